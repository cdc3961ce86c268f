/** Where the person is in the story, and what the issuer has signed. @module */

import { useMemo } from "preact/hooks";
import { namesIn } from "../feed/names.ts";
import type { Site } from "../site/site.ts";
import { NewestEvents } from "./newest_events.tsx";
import { StorySteps } from "./story_steps.tsx";
import type { Story, StoryStep } from "./use_story.ts";

interface Step {
  readonly id: StoryStep;
  readonly title: string;
  readonly detail: string;
}

const STEPS: readonly Step[] = [
  { id: "key", title: "Make a key", detail: "It is your name here." },
  {
    id: "hired",
    title: "Be hired",
    detail: "The issuer signs that you are an employee.",
  },
  {
    id: "sign-in",
    title: "Sign in",
    detail: "The site reads the feed and lets you in.",
  },
  {
    id: "apps",
    title: "Open two applications",
    detail: "The same key; the second asks nothing.",
  },
  {
    id: "let-go",
    title: "Be let go",
    detail: "The issuer signs that it is over.",
  },
  {
    id: "again",
    title: "Try again",
    detail: "Same key, same site, and now a no.",
  },
];
const SHOWN_EVENTS = 6;

/** The steps of a story, and how many of them are done. */
export function stepsOf(
  { apps, step }: Pick<Story, "apps" | "step">,
): { readonly steps: readonly Step[]; readonly done: number } {
  const steps = STEPS.filter(({ id }) => id !== "apps" || apps.length > 0);
  const at = steps.findIndex(({ id }) => id === step);
  return { steps, done: at < 0 ? steps.length : at };
}

/** On narrow screens: the step, always in view. */
export function TourBar({ story }: { readonly story: Story }) {
  const { steps, done } = stepsOf(story);
  const now = steps[done];
  return (
    <p class="tour-bar" aria-hidden="true">
      {now === undefined ? <strong>The end</strong> : (
        <>
          <span>Step {done + 1} of {steps.length}</span>{" "}
          <strong>{now.title}</strong>
        </>
      )}
      <progress max={steps.length} value={done} />
    </p>
  );
}

/** Steps and feed. */
export function Tour({ site, story }: {
  readonly site: Site;
  readonly story: Story;
}) {
  const { apps, step, feed } = story;
  const { steps, done } = stepsOf(story);
  const names = useMemo(() => namesIn(feed?.events ?? []), [feed]);
  return (
    <aside class="card tour" id="tour" aria-labelledby="tour-title">
      <h2 id="tour-title">
        The story in {apps.length > 0 ? "six" : "five"} steps
      </h2>
      <StorySteps steps={steps} done={done} />
      <h3>What the issuer has signed</h3>
      {feed?.state === undefined
        ? (
          <p class="quiet">
            {step === "key"
              ? "Nothing about you yet."
              : feed === undefined
              ? "Reading the feed…"
              : "The feed could not be verified. Open it in the explorer."}
          </p>
        )
        : (
          <NewestEvents
            events={feed.events}
            names={names}
            atMost={SHOWN_EVENTS}
          />
        )}
      {site.config.issuers.length > 0 && (
        <p>
          <a href="#/explore/0">Open this feed in the explorer</a>
        </p>
      )}
    </aside>
  );
}
