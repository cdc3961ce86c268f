import { isSigError } from "@sig/core";
import { INTERRUPTED, typedCommand } from "../command_line/command.ts";
import { address, optional, parseAddress } from "@sig/api/program";
import { type Output, safe, warn, writeJson } from "../output/write.ts";

/** Time in ms that requests in flight have to finish after a stop signal. */
const GRACE_MS = 5_000;

const REFUSED: readonly string[] = [
  "private_key_in_jwks",
  "source_not_found",
  "invalid_metadata",
];

/** `sig serve` */
export const serve = typedCommand({
  description: `
    Serves the issuer's documents and proofs and nothing else, until it is stopped. The
    first line of output is its URL.`,
  positionals: [{
    name: "dir",
    help: "the issuer's directory",
    kind: "folder",
  }],
  flags: {
    addr: optional(
      address,
      "where to listen (default: 127.0.0.1:8080; port 0: any free port)",
    ),
  },
  endless: true,
  examples: [
    "sig serve acme.example",
    "sig serve acme.example --addr [::1]:9000",
  ],
  async run(call) {
    const { io } = call;
    const dir = call.positionals[0]!;
    const address = call.flags.addr ?? parseAddress("127.0.0.1:8080");
    await requirePublishable(call, dir);
    const { createIssuerSite } = await import("../site/issuer_site.ts");
    const { listen } = await import("@sig/api/program");
    // Registered first: a process that has run out of descriptors can't add
    // signal listeners.
    const stop = io.stopRequested();
    const server = listen(
      address,
      createIssuerSite(dir),
      (message) => io.stderr(`${safe(message)}\n`),
    );
    if (call.format === "json") {
      writeJson(io, { url: server.url, dir });
    } else {
      io.stdout(`${server.url}\n`);
      io.stderr(`Serving ${safe(dir)}. Stop it with Ctrl-C.\n`);
    }
    await Promise.race([stop, server.finished]);
    return await server.shutdown(GRACE_MS) ? 0 : INTERRUPTED;
  },
});

/**
 * Refuses faults that are irreversible once published, or that make the feed
 * unusable. Readers report other faults.
 */
async function requirePublishable(call: Output, dir: string): Promise<void> {
  const { openSource } = await import("@sig/consumer");
  const { loadIssuer } = await import("@sig/consumer/internal");
  try {
    const issuer = await loadIssuer(
      openSource({ kind: "directory", path: dir }),
    );
    // A feed that can't be opened does not exist for readers.
    await (await issuer.openFeed()).document.cancel();
  } catch (error) {
    const refused = !isSigError(error) || REFUSED.includes(error.code);
    if (refused) throw error;
    warn(call, `${error.code}: ${error.message}`);
  }
}
