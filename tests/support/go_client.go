// Runs the script of the client tests with the protocol's Go client, and prints what it saw.
//
//	go-client MODE '{"url": …} or {"command": …, "args": […]}'
//
// MODE is `auto` or `legacy`, which is revision 2025-11-25.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type place struct {
	URL     string   `json:"url"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func main() {
	seen, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, _ := json.Marshal(seen)
	fmt.Println(string(text))
}

func run(mode, where string) (map[string]any, error) {
	var server place
	if err := json.Unmarshal([]byte(where), &server); err != nil {
		return nil, err
	}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: server.URL}
	if server.URL == "" {
		command := exec.Command(server.Command, server.Args...)
		command.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: command}
	}
	var options *mcp.ClientSessionOptions
	if mode == "legacy" {
		options = &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
	}
	background := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(background, transport, options)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	call := func(name string, arguments map[string]any) (*mcp.CallToolResult, error) {
		return session.CallTool(background, &mcp.CallToolParams{Name: name, Arguments: arguments})
	}

	listed, err := session.ListTools(background, nil)
	if err != nil {
		return nil, err
	}
	tools := []string{}
	for _, tool := range listed.Tools {
		tools = append(tools, tool.Name)
	}
	echoed, err := call("echo", map[string]any{"value": []any{1, map[string]any{"a": "é"}}})
	if err != nil {
		return nil, err
	}
	refused, err := call("refuse", map[string]any{})
	if err != nil {
		return nil, err
	}
	var unknown any
	if _, err = call("ecko", map[string]any{}); err != nil {
		var wire *jsonrpc.Error
		if errors.As(err, &wire) {
			unknown = wire.Code
		}
	}
	health, err := session.ReadResource(background, &mcp.ReadResourceParams{URI: "carrel://health"})
	if err != nil {
		return nil, err
	}
	var report map[string]any
	if err = json.Unmarshal([]byte(health.Contents[0].Text), &report); err != nil {
		return nil, err
	}
	return map[string]any{
		"tools":   tools,
		"echoed":  echoed.StructuredContent,
		"refused": refused.IsError,
		"unknown": unknown,
		"ok":      report["ok"],
		"crossed": crossed(call),
	}, nil
}

// crossed returns how many of 100 concurrent calls got another call's result, or none.
func crossed(call func(string, map[string]any) (*mcp.CallToolResult, error)) int {
	var waiting sync.WaitGroup
	wrong := make([]bool, 100)
	for number := range wrong {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			result, err := call("echo", map[string]any{"value": number})
			if err != nil {
				wrong[number] = true
				return
			}
			content, _ := result.StructuredContent.(map[string]any)
			wrong[number] = content["value"] != float64(number)
		}()
	}
	waiting.Wait()
	count := 0
	for _, one := range wrong {
		if one {
			count++
		}
	}
	return count
}
