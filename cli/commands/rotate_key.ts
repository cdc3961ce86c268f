import { DIR_FLAG } from "../issue/flags.ts";
import type { CommandSpec } from "../command_line/command.ts";
import { warn, writeJson } from "../output/write.ts";

/** `sig rotate-key` */
export const rotateKey: CommandSpec = {
  description:
    "The old keys stay published, so that old events still verify. A rotation\nthat broke off is completed by the same command.",
  flags: [
    DIR_FLAG,
    {
      name: "kid",
      value: "KID",
      help: "the new key's identifier",
      required: true,
    },
  ],
  examples: ["sig rotate-key --dir acme.example --kid orgsign-2"],
  async run(call) {
    const { createFileStore, openIssuer } = await import("@sig/issuer");
    const { fileKeys } = await import("../issue/open_issuer.ts");
    await using issuer = await openIssuer({
      store: createFileStore(call.text("dir")!),
      keys: fileKeys(call),
      now: call.io.now,
      onRecovery: (notice) => warn(call, notice.detail),
    });
    const { kid } = await issuer.rotateKey({ kid: call.text("kid")! });
    if (call.io.env("SIG_KEY_FILE") !== undefined) {
      warn(
        call,
        "SIG_KEY_FILE still names another key, which signs until it is unset",
      );
    }
    if (call.format === "json") writeJson(call.io, { kid });
    else call.io.stdout(`Added key ${kid}; new events are signed with it\n`);
    return 0;
  },
};
