import { SigError } from "@sig/core";
import type { Command } from "../command.ts";
import { parseAddress } from "../address.ts";
import { writeJson } from "../output.ts";

/** `sig serve` */
export const serve: Command = {
  name: "serve",
  summary: "host an issuer's directory, for tests or behind a proxy",
  description:
    "Serves the issuer's four documents and nothing else, until it is stopped.",
  positionals: [{ name: "dir", help: "the issuer's directory" }],
  flags: [
    {
      name: "addr",
      value: "HOST:PORT",
      help: "where to listen; 127.0.0.1:8080 unless told, port 0 takes any",
    },
  ],
  endless: true,
  examples: [
    "sig serve acme.example",
    "sig serve acme.example --addr [::1]:9000",
  ],
  async run(call) {
    const { io } = call;
    const dir = call.positionals[0]!;
    const address = parseAddress(call.text("addr") ?? "127.0.0.1:8080");
    if (!io.exists(`${dir}/.well-known/sig.json`)) {
      throw new SigError(
        "source_not_found",
        `Cannot serve ${JSON.stringify(dir)}: it has no .well-known/sig.json`,
        { context: { hint: "Make an issuer with: sig init <domain>" } },
      );
    }
    const { createIssuerHandler } = await import("../issuer_handler.ts");
    const server = await io.serve(address, createIssuerHandler(dir));
    if (call.format === "json") writeJson(io, { url: server.url, dir });
    else io.stdout(`Serving ${dir} at ${server.url}/.well-known/sig.json\n`);
    await Promise.race([io.stopRequested(), server.finished]);
    await server.shutdown();
    return 0;
  },
};
