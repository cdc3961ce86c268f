import { isSigError, SigError } from "@sig/core";
import { file, many, optional, required, text } from "@sig/api/flags";
import { typedCommand } from "../command_line/command.ts";
import { id, url } from "../command_line/values.ts";
import { safeJson, writeJson } from "../output/write.ts";
import type { Io } from "../terminal/io.ts";

/** `sig web client add` */
export const webClientAdd = typedCommand({
  description:
    "Adds an application to the file that sig web reads by --oidc-clients. Its\nsecret is shown once.",
  flags: {
    file: required(file, "file of the applications"),
    id: required(id, "client_id of the application"),
    "redirect-uri": {
      ...many(url, "redirect URI of the application, exactly"),
      required: true,
    },
    name: optional(text, "display name"),
  },
  examples: [
    "sig web client add --file clients.json --id grafana --redirect-uri https://grafana.acme.example/login/generic_oauth",
  ],
  async run({ flags, format, io }) {
    const { file, id, name, "redirect-uri": redirectUris } = flags;
    const { addClient } = await import("@sig/web/clients");
    const { text, secret } = await addClient(await readIfThere(io, file), {
      ...{ id, redirectUris, name },
    }).catch((error: unknown) => {
      throw aboutFile(error);
    });
    if (io.replaceFile === undefined) throw new TypeError("Cannot write files");
    await io.replaceFile(file, text);
    if (format === "json") {
      writeJson(io, { client_id: id, client_secret: secret });
    } else {
      io.stdout(`client_id: ${safeJson(id)}\nclient_secret: ${secret}\n`);
      io.stderr(
        "The secret is nowhere else: give it to the application now.\n",
      );
    }
    return 0;
  },
});

/** Bytes of a file of applications at most. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

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

async function readIfThere(io: Io, file: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await io.readFile(file, MAX_FILE_BYTES));
  } catch (error) {
    const isNew = isSigError(error, "source_not_found") && !io.exists(file);
    if (isNew) return undefined;
    throw error;
  }
}
