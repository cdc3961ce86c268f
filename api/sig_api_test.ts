import { assertEquals, assertStringIncludes } from "@std/assert";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { tempFolder } from "../tests/kit/process.ts";
import { createServerIo, parseFlags } from "./program/mod.ts";
import { post } from "./testdata/asking.ts";
import { apiProgram } from "./sig_api.ts";

/** Starts the program with a token file of this content. */
async function start(content: string | Uint8Array, ...words: string[]) {
  await using folder = await tempFolder();
  const file = `${folder.path}/token`;
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  await Deno.writeFile(file, bytes);
  const { flags } = apiProgram;
  const given = parseFlags(["--token-file", file, ...words], {
    ...{ flags, seeHelp: "" },
  });
  return await apiProgram.start(given, createServerIo());
}

Deno.test("warns about a token that can be guessed if the server is public", async () => {
  const proxied = ["--host", "sig.acme.example"];
  const warning =
    "the token of --token-file has fewer than 16 characters and may be guessed: make one by openssl rand -hex 32";
  const rows = [
    ["s3cret", proxied, [warning]],
    ["0123456789abcdef", proxied, []],
    ["s3cret", [], []],
  ] as const;
  for (const [token, words, warnings] of rows) {
    assertEquals((await start(token, ...words)).warnings, warnings);
  }
  // On a platform the token is a variable, with which it need not be public.
  const { flags } = apiProgram;
  const given = parseFlags(proxied, { flags, seeHelp: "" });
  const io = { ...createServerIo(), token: "s3cret" };
  const { warnings } = await apiProgram.start(given, io);
  assertEquals(warnings, [warning.replace("--token-file", "SIG_TOKEN")]);
});

Deno.test("rejects a token file without a valid token", async () => {
  const why = "Cannot run: the token must be one line of printable ASCII";
  for (
    const content of ["", "\n", "a\nb\n", "a b", Uint8Array.of(255, 0, 97)]
  ) {
    await expectSigError(() => start(content), "invalid_request", why);
  }
  await expectSigError(
    () => start("a".repeat(5_000)),
    "document_too_large",
    "it is larger than 4096 bytes",
  );
});

Deno.test("a public server needs a token or --public; the token and the limits are the application's", async () => {
  const proxied = ["--trust-proxy", "192.0.2.1/32"];
  const { flags } = apiProgram;
  const given = parseFlags(proxied, { flags, seeHelp: "" });
  const { context } = await expectSigError(
    () => apiProgram.start(given, createServerIo()),
    "invalid_request",
    "Cannot run: a server that others can reach needs --token-file, or --public",
  );
  assertStringIncludes(
    context.hint!,
    '--trust-proxy "192.0.2.1/32" says that they do. ',
  );
  const { createApp } = await start("s3cret\n", ...proxied, "--rate-limit=2/s");
  const app = await createApp("http://127.0.0.1", undefined);
  const statuses: number[] = [];
  for (const sent of ["Bearer s3cret", "Bearer other", "Bearer s3cret"]) {
    const headers = { authorization: sent };
    statuses.push((await post(app, "/v1/check", {}, headers)).status);
  }
  assertEquals(statuses, [400, 401, 429]);
});
