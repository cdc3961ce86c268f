import { required } from "@sig/api/flags";
import { DIR_FLAG } from "../issue/flags.ts";
import { typedCommand } from "../command_line/command.ts";
import { kid } from "../command_line/values.ts";
import {
  givenWarnings,
  warn,
  writeJson,
  writeWarnings,
} from "../output/write.ts";

/** `sig rotate-key` */
export const rotateKey = typedCommand({
  description:
    "The old keys stay published, so that old events still verify. A rotation\nthat broke off is completed by the same command.",
  flags: {
    ...DIR_FLAG,
    kid: required(kid, "the new key's identifier"),
  },
  examples: ["sig rotate-key --dir acme.example --kid orgsign-2"],
  async run(call) {
    const { createFileStore, openIssuer } = await import("@sig/issuer");
    const { fileKeys } = await import("../issue/open_issuer.ts");
    await using issuer = await openIssuer({
      store: createFileStore(call.flags.dir),
      keys: fileKeys(call),
      now: call.io.now,
      onRecovery: (notice) => warn(call, notice.detail),
    });
    const { kid, warnings } = await issuer.rotateKey({ kid: call.flags.kid });
    writeWarnings(call, warnings);
    if (call.io.env("SIG_KEY_FILE") !== undefined) {
      warn(
        call,
        "SIG_KEY_FILE still names another key, which signs until it is unset",
      );
    }
    if (call.format === "json") {
      writeJson(call.io, { kid, ...givenWarnings(warnings) });
    } else call.io.stdout(`Added key ${kid}; new events are signed with it\n`);
    return 0;
  },
});
