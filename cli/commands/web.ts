import { usageError } from "@sig/api/flags";
import { isSigError, SigError } from "@sig/core";
import { webProgram } from "@sig/web/program";
import type { Call, Command, CommandSpec } from "../command_line/command.ts";
import { safeJson, writeJson } from "../output/write.ts";
import { serverCommand } from "../command_line/server_command.ts";

const server = serverCommand("web", webProgram);

const CLIENT_FLAGS: Command["flags"] = [
  {
    name: "file",
    value: "FILE",
    help: "file of the applications (client add)",
  },
  {
    name: "id",
    value: "ID",
    help: "client_id of the application (client add)",
  },
  {
    name: "redirect-uri",
    value: "URL",
    help: "redirect URI of the application, exactly (client add)",
    repeat: true,
  },
  { name: "name", value: "TEXT", help: "display name (client add)" },
];

/** `sig web`, `sig web client add` */
export const web: CommandSpec = {
  ...server,
  positionals: [
    {
      name: "client",
      help: "not the server: change the file of --oidc-clients",
      optional: true,
      choices: ["client"],
    },
    {
      name: "add",
      help: "add an application; its secret is shown once",
      optional: true,
      choices: ["add"],
    },
  ],
  flags: [...server.flags, ...CLIENT_FLAGS],
  examples: [
    ...server.examples,
    "sig web client add --file clients.json --id grafana --redirect-uri https://grafana.acme.example/login/generic_oauth",
  ],
  async run(call) {
    const [client, action] = call.positionals;
    if (client === undefined) {
      for (const { name, repeat } of CLIENT_FLAGS) {
        const isGiven = repeat
          ? call.texts(name).length > 0
          : call.text(name) !== undefined;
        if (isGiven) {
          throw usageError(`--${name} is for sig web client add`, {
            flag: `--${name}`,
          });
        }
      }
      return await server.run(call);
    }
    if (action === undefined) {
      throw usageError("<add> is missing: sig web client add", {
        hint: "See: sig web --help",
      });
    }
    return await add(call);
  },
};

/** Bytes of a file of applications at most. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

async function add(call: Call): Promise<number> {
  const { io } = call;
  const file = requireFlag(call, "file");
  const id = requireFlag(call, "id");
  const redirectUris = call.texts("redirect-uri");
  if (redirectUris.length === 0) throw missing("redirect-uri");
  const { addClient } = await import("@sig/web/clients");
  const name = call.text("name");
  const { text, secret } = await addClient(await readIfThere(call, file), {
    ...{ id, redirectUris, name },
  }).catch((error: unknown) => {
    throw aboutFile(error);
  });
  if (io.replaceFile === undefined) throw new TypeError("Cannot write files");
  await io.replaceFile(file, text);
  if (call.format === "json") {
    writeJson(io, { client_id: id, client_secret: secret });
  } else {
    io.stdout(`client_id: ${safeJson(id)}\nclient_secret: ${secret}\n`);
    io.stderr("The secret is nowhere else: give it to the application now.\n");
  }
  return 0;
}

/** The server takes the file by another flag: the message names it. */
function aboutFile(error: unknown): unknown {
  if (!isSigError(error) || error.context.flag !== "--oidc-clients") {
    return error;
  }
  return new SigError(error.code, error, {
    context: { ...error.context, flag: "--file", hint: "Nothing was written." },
    cause: error,
  });
}

async function readIfThere(
  { io }: Call,
  file: string,
): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await io.readFile(file, MAX_FILE_BYTES));
  } catch (error) {
    const isNew = isSigError(error, "source_not_found") && !io.exists(file);
    if (isNew) return undefined;
    throw error;
  }
}

function requireFlag(call: Call, name: string): string {
  const value = call.text(name);
  if (value !== undefined) return value;
  throw missing(name);
}

function missing(name: string) {
  return usageError(`--${name} is required`, {
    flag: `--${name}`,
    hint: "See: sig web --help",
  });
}
