import { isSigError, SigError } from "@sig/core";
import {
  file,
  many,
  oneOf,
  optional,
  required,
  text,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { id, url } from "../command_line/values.ts";
import { given } from "../issue/flags.ts";
import { column, writeTable } from "../output/table.ts";
import { safeJson, writeJson, writeResult } from "../output/write.ts";

const FILE = { file: required(file, "file of the applications") };
const ID = { id: required(id, "client_id of the application") };

/** Members of an entry that both `add` and `set` write. */
const MEMBERS = {
  name: optional(text, "display name"),
  "post-logout-redirect-uri": many(
    url,
    "URI that people may be sent to after a logout",
  ),
  "backchannel-logout-uri": optional(
    url,
    "URI that receives logout notifications",
  ),
  alg: optional(
    oneOf("RS256", "ES256", "EdDSA"),
    "algorithm of signatures for it (default: RS256)",
  ),
  require: many(
    text,
    "requirement in addition to those of the server, such as role=ops",
    { placeholder: "KEY=VALUE" },
  ),
};

/** The members of an entry that the flags give. */
function membersOf(flags: Values<typeof MEMBERS>) {
  const listOf = (values: readonly string[]) =>
    values.length === 0 ? undefined : values;
  return {
    client_name: flags.name,
    post_logout_redirect_uris: listOf(flags["post-logout-redirect-uri"]),
    backchannel_logout_uri: flags["backchannel-logout-uri"],
    id_token_signed_response_alg: flags.alg,
    require: listOf(flags.require),
  };
}

/** `sig web client add` */
export const webClientAdd = typedCommand({
  description: `
    Adds an application to the file that sig web reads by --oidc-clients. Its
    secret is shown once.`,
  flags: {
    ...FILE,
    ...ID,
    "redirect-uri": {
      ...many(url, "redirect URI of the application, exactly"),
      required: true,
    },
    ...MEMBERS,
    refresh: toggle("give it refresh tokens"),
    "no-pkce": toggle("accept requests without PKCE if they have a nonce"),
  },
  examples: [
    "sig web client add --file clients.json --id grafana --redirect-uri https://grafana.acme.example/login/generic_oauth",
  ],
  async run(call) {
    const { flags } = call;
    const { addClient } = await import("@sig/web/clients");
    return await change(
      call,
      async () =>
        await addClient(
          call.io.exists(flags.file) ? await read(call) : undefined,
          {
            client_id: flags.id,
            redirect_uris: flags["redirect-uri"],
            ...membersOf(flags),
            refresh: flags.refresh || undefined,
            pkce: flags["no-pkce"] ? false : undefined,
          },
        ),
    );
  },
});

/** `sig web client set` */
export const webClientSet = typedCommand({
  description: `
    Changes an application of the file; what is not named remains, as does its
    secret. A list replaces the list of before. The server reads the file again at
    SIGHUP.`,
  flags: {
    ...FILE,
    ...ID,
    "redirect-uri": many(url, "redirect URI of the application, exactly"),
    ...MEMBERS,
    refresh: optional(
      oneOf("yes", "no"),
      "whether it gets refresh tokens",
    ),
    pkce: optional(
      oneOf("yes", "no"),
      "no: accept requests without PKCE if they have a nonce",
    ),
    unset: many(
      oneOf(
        ...["client_name", "post_logout_redirect_uris"] as const,
        ...["backchannel_logout_uri", "require"] as const,
      ),
      "member of the entry to remove: client_name, post_logout_redirect_uris, backchannel_logout_uri or require",
      { placeholder: "MEMBER" },
    ),
  },
  examples: [
    "sig web client set --file clients.json --id grafana --pkce no",
    "sig web client set --file clients.json --id grafana --require role=ops",
  ],
  async run(call) {
    const { flags } = call;
    const redirects = flags["redirect-uri"];
    const isYes = (value?: "yes" | "no") => value && value === "yes";
    const changes = {
      ...Object.fromEntries(flags.unset.map((member) => [member, null])),
      ...given({
        redirect_uris: redirects.length === 0 ? undefined : redirects,
        ...membersOf(flags),
        refresh: isYes(flags.refresh),
        pkce: isYes(flags.pkce),
      }),
    };
    if (Object.keys(changes).length === 0) {
      throw usageError("no change was given", {
        hint: "For example: --redirect-uri URI, --pkce no.",
      });
    }
    const { setClient } = await import("@sig/web/clients");
    return await change(
      call,
      async () => ({ text: setClient(await read(call), flags.id, changes) }),
      "changed",
    );
  },
});

/** `sig web client list` */
export const webClientList = typedCommand({
  description: "Lists the applications of a file.",
  flags: FILE,
  examples: ["sig web client list --file clients.json"],
  async run(call) {
    const { readClients } = await import("@sig/web/clients");
    const found = await aboutFile(async () => readClients(await read(call)));
    const clients = Array.from(found.values(), (client) => ({
      client_id: client.client_id,
      client_name: client.client_name,
      auth_methods: client.auth_methods,
      redirect_uris: client.redirect_uris,
      refresh: client.refresh,
      pkce: client.pkce,
    }));
    if (call.format === "json") writeJson(call.io, { clients });
    else if (clients.length === 0) call.io.stdout("no applications\n");
    else {
      writeTable(call, clients, [
        column("CLIENT_ID", (each) => each.client_id),
        column("NAME", (each) => each.client_name),
        column("METHODS", (each) => each.auth_methods.join(", ")),
        column("REDIRECT_URIS", (each) => each.redirect_uris.join(" ")),
      ]);
    }
  },
});

/** `sig web client remove` */
export const webClientRemove = typedCommand({
  description: "Removes an application from the file.",
  flags: { ...FILE, ...ID },
  examples: ["sig web client remove --file clients.json --id grafana"],
  async run(call) {
    const { removeClient } = await import("@sig/web/clients");
    return await change(call, async () => ({
      text: removeClient(await read(call), call.flags.id),
    }));
  },
});

/** `sig web client rotate-secret` */
export const webClientRotateSecret = typedCommand({
  description: `
    Gives an application a new secret, which is shown once. The old
    secret is valid until the server reads the file again (SIGHUP).`,
  flags: { ...FILE, ...ID },
  examples: ["sig web client rotate-secret --file clients.json --id grafana"],
  async run(call) {
    const { rotateSecret } = await import("@sig/web/clients");
    return await change(
      call,
      async () => await rotateSecret(await read(call), call.flags.id),
    );
  },
});

type FileCall = Call<Values<typeof FILE>>;

/** Writes the changed file and shows a new secret once. */
async function change(
  call: Call<Values<typeof FILE & typeof ID>>,
  work: () => Promise<{ readonly text: string; readonly secret?: string }>,
  done: "changed" | "removed" = "removed",
): Promise<void> {
  const { io, flags: { file, id: client_id } } = call;
  const { secret: client_secret, text } = await aboutFile(work);
  await io.replaceFile(file, text);
  const id = safeJson(client_id);
  if (client_secret === undefined) {
    const text = done === "removed" ? `Removed ${id}\n` : `Changed ${id}\n`;
    return writeResult(call, { client_id, [done]: true }, text);
  }
  writeResult(
    call,
    { client_id, client_secret },
    `client_id: ${id}\nclient_secret: ${client_secret}\n`,
  );
  if (call.format === "text") {
    io.stderr(
      "The secret is not shown again: copy it to the application now.\n",
    );
  }
}

/** Maximum size of an application file in bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** Renames the flag in errors: the server reads the file by another flag. */
async function aboutFile<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isSigError(error) || error.context.flag !== "--oidc-clients") {
      throw error;
    }
    throw new SigError(error.code, {
      action: error.action,
      reason: error.reason,
      context: {
        ...error.context,
        flag: "--file",
        hint: "Nothing was written.",
      },
      cause: error,
    });
  }
}

async function read({ io, flags: { file } }: FileCall): Promise<string> {
  return new TextDecoder().decode(await io.readFile(file, MAX_FILE_BYTES));
}
