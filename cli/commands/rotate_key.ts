import { optional, required } from "@sig/api/program";
import { DIR_FLAG } from "../issue/flags.ts";
import { typedCommand } from "../command_line/command.ts";
import { kid, signingKey } from "../command_line/values.ts";
import {
  givenWarnings,
  warn,
  writeResult,
  writeWarnings,
} from "../output/write.ts";

/** `sig rotate-key` */
export const rotateKey = typedCommand({
  description:
    "The old keys stay published, so that old events still verify. A rotation\nthat broke off is completed by the same command.",
  flags: {
    ...DIR_FLAG,
    kid: required(kid, "the new key's identifier"),
    key: optional(
      signingKey,
      "private JWK, or key in ssh-agent, to use instead of a new key",
    ),
  },
  examples: [
    "sig rotate-key --dir acme.example --kid orgsign-2",
    "sig rotate-key --dir acme.example --kid orgsign-2 --key agent:",
  ],
  async run(call) {
    const { createFileStore, openIssuer } = await import("@sig/issuer");
    const { fileKeys } = await import("../issue/open_issuer.ts");
    const { readNamedKey } = await import("../issue/private_key.ts");
    await using issuer = await openIssuer({
      store: createFileStore(call.flags.dir),
      keys: fileKeys(call),
      now: call.io.now,
      onRecovery: (notice) => warn(call, notice.detail),
    });
    const { kid, key } = call.flags;
    const named = key === undefined ? undefined : await readNamedKey(call, key);
    const { warnings } = await issuer.rotateKey(
      named === undefined ? { kid } : { kid, key: await named.keep(kid) },
    );
    writeWarnings(call, warnings);
    if (call.io.env("SIG_KEY_FILE") !== undefined) {
      warn(
        call,
        "SIG_KEY_FILE still names another key, which signs until it is unset",
      );
    }
    writeResult(
      call,
      { kid, ...givenWarnings(warnings) },
      `Added key ${kid}; new events are signed with it\n`,
    );
    return 0;
  },
});
