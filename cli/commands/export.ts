import { file, optional, usageError } from "@sig/api/program";
import { typedCommand } from "../command_line/command.ts";
import { safe, writeResult } from "../output/write.ts";
import { EXPORT_FLAGS, EXPORT_KINDS, makeExport } from "../export/kinds.ts";

/** `sig export` */
const exportSite = typedCommand({
  description: `
    nginx, caddy, deno-deploy and static serve the issuer's documents as readers
    need them, and nothing else of the directory: a configuration; a program for
    Deno Deploy and deno serve; a _headers file for Netlify, Cloudflare Pages and
    others.

    gate-nginx, gate-caddy and gate-traefik protect an application: a configuration
    of a reverse proxy that lets in only people who logged in at sig web.`,
  positionals: [{
    name: "kind",
    help: EXPORT_KINDS.map(({ name }) => name).join(", "),
    choices: EXPORT_KINDS.map(({ name }) => name),
  }],
  flags: {
    ...EXPORT_FLAGS,
    out: optional(file, "a new file, instead of standard output"),
  },
  examples: [
    "sig export nginx --dir acme.example --root /srv/acme.example",
    "sig export caddy --dir acme.example --out acme.caddy",
    "sig export static --dir acme.example --out public/_headers",
    "sig export gate-nginx --login https://login.acme.example --app wiki.acme.example",
  ],
  async run(call) {
    const { io } = call;
    const kind = EXPORT_KINDS.find(({ name }) => name === call.positionals[0])!;
    for (const name of Object.keys(EXPORT_FLAGS)) {
      const flag = name as keyof typeof EXPORT_FLAGS;
      if (call.flags[flag] === undefined || kind.takes.includes(flag)) continue;
      throw usageError(`--${flag} does not apply to ${kind.name}`, {
        flag: `--${flag}`,
      });
    }
    const text = await makeExport(kind, call);
    const file = call.flags.out;
    if (file !== undefined) await io.createFile(file, text);
    const { name } = kind;
    if (file === undefined) writeResult(call, { kind: name, text }, text);
    else writeResult(call, { kind: name, file }, `Wrote ${safe(file)}\n`);
  },
});

export { exportSite as export };
