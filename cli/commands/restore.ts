import { required } from "@sig/api/flags";
import { DIR_FLAG } from "../issue/flags.ts";
import { typedCommand } from "../command_line/command.ts";
import { source } from "../command_line/values.ts";
import { counted, writeJson } from "../output/write.ts";
import { INSECURE_FLAG, SOURCE_HELP } from "../ask/source_flags.ts";

/** `sig restore` */
export const restore = typedCommand({
  description:
    "Appends the events that the published feed has and the local one lost, after\nevery signature was verified with the local key set, and only if the\npublished feed continues the local lines byte for byte.",
  flags: {
    ...DIR_FLAG,
    from: required(source, SOURCE_HELP),
    ...INSECURE_FLAG,
  },
  examples: ["sig restore --dir acme.example --from acme.example"],
  async run(call) {
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    const { readPublishedFeed } = await import("../issue/published_feed.ts");
    await using issuer = await openIssuerDir(call);
    const published = await readPublishedFeed(call, call.flags.from);
    const done = await issuer.restore(published);
    const { last_sequence, restored } = done;
    if (call.format === "json") writeJson(call.io, done);
    else {
      call.io.stdout(
        restored === 0
          ? `Nothing to restore: the feed ends at sequence ${last_sequence}, and the published one no later\n`
          : `Restored ${
            counted(restored, "event")
          }: the feed ends at sequence ${last_sequence} again\n`,
      );
    }
    return 0;
  },
});
