import { createServerIo, parseFlags } from "@sig/api/program";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { webProgram } from "./sig_web.ts";

const EVERYWHERE = ["--addr", "0.0.0.0:0"];

for (
  const [words, why] of [
    [
      EVERYWHERE,
      "--audience is required if other machines can reach the server",
    ],
    [
      [...EVERYWHERE, "--audience", "https://login.acme.example"],
      "a server that others can reach needs --public",
    ],
    [
      ["--audience", "https://login.acme.example/login"],
      '--audience "https://login.acme.example/login" must be an origin or a DID',
    ],
    [
      ["--scope", "two words"],
      '--scope "two words" must be printable ASCII without space, quote and backslash',
    ],
  ] as const
) {
  Deno.test(`refuses to start with ${words.join(" ")}`, async () => {
    const { flags } = webProgram;
    const given = parseFlags(words, { flags, seeHelp: "" });
    await expectSigError(
      async () => await webProgram.start(given, createServerIo()),
      "invalid_request",
      `Cannot run: ${why}`,
    );
  });
}
