import { required } from "@sig/api/flags";
import { typedCommand } from "../command_line/command.ts";
import { signingKey, textOf } from "../command_line/values.ts";
import { counted, writeJson } from "../output/write.ts";
import { PINS_FLAG, requirePins } from "../ask/pin_flags.ts";
import {
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_WORD,
  sourceOf,
} from "../ask/source_flags.ts";

/** `sig cosign` */
export const cosign = typedCommand({
  description:
    "Verifies the whole feed, and that it gives the checkpoint's root, bytes and state\nand continues what the pin store remembers. Then prints a signature line, which\nthe issuer adds with `sig checkpoint --add`. Readers pass the key that is shown\nas --cosigner.",
  positionals: [SOURCE_WORD],
  flags: {
    ...SOURCE_FLAG,
    key: required(
      signingKey,
      "private JWK, or key in ssh-agent, to cosign with",
    ),
    name: required(
      textOf("NAME"),
      "the key's name, such as cosigner.example/1",
    ),
    ...PINS_FLAG,
    ...POLICY_FLAGS,
  },
  examples: [
    "sig cosign acme.example --key cosigner.jwk --name cosigner.example/1 > cosignature.txt",
  ],
  async run(call) {
    const { io, flags } = call;
    const { cosignCheckpoint } = await import("@sig/consumer/pins");
    const { locateIssuer } = await import("@sig/consumer/internal");
    const { readSigningKey } = await import("../issue/private_key.ts");
    const policy = { allowPrivate: flags["allow-insecure"] };
    const location = locateIssuer(sourceOf(call), policy);
    const key = await readSigningKey(call, flags.key);
    const pins = await requirePins(call);
    try {
      const cosigned = await cosignCheckpoint(pins, location, {
        ...{ key, name: flags.name, now: io.now() },
        unknownEvents: flags["unknown-events"],
        unmatchedRevoke: flags["unmatched-revoke"],
      });
      if (call.format === "json") writeJson(io, cosigned);
      else {
        io.stdout(cosigned.line);
        io.stderr(
          `Cosigned ${counted(cosigned.size, "event")} as ${cosigned.vkey}\n`,
        );
      }
      return 0;
    } finally {
      await pins.close();
    }
  },
});
