import { usageError } from "@sig/api/flags";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { safe, writeJson } from "../output/write.ts";
import { EXPORT_KINDS, type ExportKind } from "../export/kinds.ts";

/** Every flag of a kind, once. */
const FLAGS = new Map(
  EXPORT_KINDS.flatMap(({ flags }) => flags).map((each) => [each.name, each]),
);

/** `sig export` */
export const exportSite: CommandSpec = {
  description:
    "nginx, caddy, deno-deploy and static serve the issuer's documents as readers\nneed them, and nothing else of the directory: a configuration; a program for\nDeno Deploy and deno serve; a _headers file for Netlify, Cloudflare Pages and\nothers.\n\ngate-nginx, gate-caddy and gate-traefik protect an application: a configuration\nof a reverse proxy that lets in only people who logged in at sig web.",
  positionals: [{
    name: "kind",
    help: EXPORT_KINDS.map(({ name }) => name).join(", "),
    choices: EXPORT_KINDS.map(({ name }) => name),
  }],
  flags: [
    ...FLAGS.values(),
    {
      name: "out",
      value: "FILE",
      help: "a new file, instead of standard output",
    },
  ],
  examples: [
    "sig export nginx --dir acme.example --root /srv/acme.example",
    "sig export caddy --dir acme.example --out acme.caddy",
    "sig export static --dir acme.example --out public/_headers",
    "sig export gate-nginx --login https://login.acme.example --app wiki.acme.example",
  ],
  async run(call) {
    const { io } = call;
    const kind = kindOf(call);
    const text = await kind.make(call);
    const file = call.text("out");
    if (file !== undefined) await io.createFile(file, text);
    if (call.format === "json") {
      writeJson(
        io,
        file === undefined
          ? { kind: kind.name, text }
          : { kind: kind.name, file },
      );
    } else {
      io.stdout(file === undefined ? text : `Wrote ${safe(file)}\n`);
    }
    return 0;
  },
};

/** The kind, all of whose flags make sense. */
function kindOf(call: Call): ExportKind {
  const kind = EXPORT_KINDS.find(({ name }) => name === call.positionals[0])!;
  for (const name of FLAGS.keys()) {
    if (call.text(name) === undefined) continue;
    if (kind.flags.some((flag) => flag.name === name)) continue;
    throw usageError(`--${name} means nothing to ${kind.name}`, {
      flag: `--${name}`,
    });
  }
  return kind;
}
