// A real authorization server on loopback: node authorization_server.mjs FOLDER PORT RESOURCE
// FOLDER has oidc-provider. Any name logs in with any password.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, port, resource] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));
const { generateKeyPair, exportJWK } = await import(pathToFileURL(require.resolve("jose")));

async function key(alg, options) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, ...options });
  return { ...(await exportJWK(privateKey)), alg, use: "sig", kid: `${alg}-${Date.now()}` };
}

const scope = "carrel carrel:library";
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "machine",
      client_secret: "only-for-tests-on-loopback",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
  ],
  scopes: ["openid", "offline_access", ...scope.split(" ")],
  jwks: { keys: [await key("RS256"), await key("ES256")] },
  cookies: { keys: ["only for tests"] },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, asked) => ({
        scope,
        audience: asked,
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
