import { optional, required, toggle } from "@sig/api/program";
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
  description: `
    The old keys stay published, so that old events still verify. A rotation
    that broke off is completed by the same command.`,
  flags: {
    ...DIR_FLAG,
    kid: required(kid, "the new key's identifier"),
    key: optional(
      signingKey,
      "private JWK, or key in ssh-agent, to use instead of a new key",
    ),
    unintroduced: toggle(
      "add the key although no older key can introduce it to readers that remember a proof",
    ),
  },
  examples: [
    "sig rotate-key --dir acme.example --kid orgsign-2",
    "sig rotate-key --dir acme.example --kid orgsign-2 --key agent:",
  ],
  async run(call) {
    const { openWithKeyStore } = await import("../issue/open_issuer.ts");
    const { readNamedKey } = await import("../issue/private_key.ts");
    const { kid, key, unintroduced } = call.flags;
    const { issuer: opened, own } = await openWithKeyStore(call);
    await using issuer = opened;
    const named = key === undefined ? undefined : await readNamedKey(call, key);
    const { warnings } = await issuer.rotateKey({
      kid,
      unintroduced,
      ...named && { key: await named.keep(kid) },
    });
    writeWarnings(call, warnings);
    const signsStill = own !== undefined && own.x !== named?.x;
    if (signsStill) {
      warn(
        call,
        "SIG_KEY_FILE still names another key, which signs until it is unset",
      );
    }
    writeResult(
      call,
      { kid, ...givenWarnings(warnings) },
      signsStill
        ? `Added key ${kid}; new events are signed with the key of SIG_KEY_FILE until it is unset\n`
        : `Added key ${kid}; new events are signed with it\n`,
    );
  },
});
