/** A verified feed in short: the newest event first. @module */

import type { VerifiedEvent } from "../libraries/mod.ts";
import { Icon } from "../parts/icon.tsx";
import { counted } from "../parts/text.ts";
import { ShortEvent } from "./short_event.tsx";

/** How many events there are, and the last of them. */
export function NewestEvents({ events, names, atMost }: {
  readonly events: readonly VerifiedEvent[];
  readonly names: ReadonlyMap<string, string>;
  /** Events that are shown; all unless told. */
  readonly atMost?: number;
}) {
  const shown = atMost === undefined ? events : events.slice(-atMost);
  return (
    <>
      <p class="quiet verified">
        <Icon name="yes" />
        {counted(events.length, "event")}, each signature verified in this
        browser
      </p>
      <ol class="newest-events" reversed>
        {shown.toReversed().map((each) => (
          <ShortEvent
            key={each.event.sequence}
            verified={each}
            names={names}
          />
        ))}
      </ol>
    </>
  );
}
