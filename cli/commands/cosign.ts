import { required } from "@sig/api/program";
import { signingKey, textOf } from "../command_line/values.ts";
import { counted, writeJson } from "../output/write.ts";
import { PINS_FLAG, withPins } from "../ask/pin_flags.ts";
import { sourceCommand } from "../ask/source_flags.ts";

/** `sig cosign` */
export const cosign = sourceCommand({
  description: `
    Verifies the whole feed, and that it gives the checkpoint's root, bytes and state
    and continues what the pin store remembers. A local source is never remembered,
    and is refused. Then prints a signature line, which the issuer adds with
    \`sig checkpoint --add\`. Readers pass the key that is shown as --cosigner.`,
  flags: {
    key: required(
      signingKey,
      "private JWK, or key in ssh-agent, to cosign with",
    ),
    name: required(
      textOf("NAME"),
      "the key's name, such as cosigner.example/1",
    ),
    ...PINS_FLAG,
  },
  examples: [
    "sig cosign acme.example --key cosigner.jwk --name cosigner.example/1 > cosignature.txt",
  ],
  async run(call, source) {
    const { io, flags } = call;
    const { cosignCheckpoint } = await import("@sig/consumer/pins");
    const { locateIssuer } = await import("@sig/consumer/internal");
    const { readSigningKey } = await import("../issue/private_key.ts");
    const policy = { allowPrivate: flags["allow-insecure"] };
    const location = locateIssuer(source, policy);
    const key = await readSigningKey(call, flags.key);
    return await withPins(call, async (pins) => {
      const cosigned = await cosignCheckpoint(pins, location, {
        key,
        name: flags.name,
        now: io.now(),
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
    });
  },
});
