// A registry that has the referrers API, in memory. Listens on the address it is given.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	handler := registry.New(registry.WithReferrersSupport(true))
	log.Fatal(http.ListenAndServe(os.Args[1], handler))
}
