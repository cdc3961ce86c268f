/** Where the person is in the story, and what the issuer has signed. @module */

import { useMemo } from "preact/hooks";
import { namesIn } from "../feed/names.ts";
import { Icon } from "../parts/icon.tsx";
import type { Site } from "../site/site.ts";
import { counted } from "../parts/text.ts";
import { ShortEvent } from "./short_event.tsx";
import type { Story, StoryStep } from "./use_story.ts";

/** The story. */
export const STEPS = [
  { title: "Make a key", detail: "It is your name here." },
  { title: "Be hired", detail: "The issuer signs that you are an employee." },
  { title: "Sign in", detail: "The site reads the feed and lets you in." },
  { title: "Be let go", detail: "The issuer signs that it is over." },
  { title: "Try again", detail: "Same key, same site, and now a no." },
] as const;
const SHOWN_EVENTS = 6;

/** On narrow screens: the step, always in view. */
export function TourBar({ step }: { readonly step: StoryStep }) {
  const now = STEPS.at(step);
  return (
    <p class="tour-bar" aria-hidden="true">
      {now === undefined ? <strong>The end</strong> : (
        <>
          <span>Step {step + 1} of {STEPS.length}</span>{" "}
          <strong>{now.title}</strong>
        </>
      )}
      <progress max={STEPS.length} value={step} />
    </p>
  );
}

/** Steps and feed. */
export function Tour({ site, story }: {
  readonly site: Site;
  readonly story: Story;
}) {
  const { step, feed } = story;
  const names = useMemo(() => namesIn(feed?.events ?? []), [feed]);
  return (
    <aside class="card tour" id="tour" aria-labelledby="tour-title">
      <h2 id="tour-title">The story in five steps</h2>
      <ol class="tour-steps">
        {STEPS.map(({ title, detail }, i) => {
          const state = i < step ? "done" : i === step ? "now" : "later";
          return (
            <li
              key={i}
              data-state={state}
              aria-current={state === "now" ? "step" : undefined}
            >
              <span class="step-mark" aria-hidden="true">
                {state === "done" ? <Icon name="yes" /> : i + 1}
              </span>
              <div>
                <strong>{title}</strong>
                {state === "done" && (
                  <span class="visually-hidden">(done)</span>
                )}
                <p>{detail}</p>
              </div>
            </li>
          );
        })}
      </ol>
      <h3>What the issuer has signed</h3>
      {feed?.state === undefined
        ? (
          <p class="quiet">
            {step === 0
              ? "Nothing about you yet."
              : feed === undefined
              ? "Reading the feed…"
              : "The feed could not be verified. Open it in the explorer."}
          </p>
        )
        : (
          <>
            <p class="quiet verified">
              <Icon name="yes" />
              {counted(feed.events.length, "event")}, each signature verified in
              this browser
            </p>
            <ol class="newest-events" reversed>
              {feed.events.slice(-SHOWN_EVENTS).reverse().map((each) => (
                <ShortEvent
                  key={each.event.sequence}
                  verified={each}
                  names={names}
                />
              ))}
            </ol>
          </>
        )}
      {site.config.issuers.length > 0 && (
        <p>
          <a href="#/explore/0">Open this feed in the explorer</a>
        </p>
      )}
    </aside>
  );
}
