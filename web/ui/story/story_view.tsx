/** The story, played on feeds that came with the page. @module */

import { useMemo, useState } from "preact/hooks";
import { NewestEvents } from "../demo/newest_events.tsx";
import { StorySteps } from "../demo/story_steps.tsx";
import { useVerification } from "../explore/use_verification.ts";
import type { CheckedFeed } from "../feed/check_feed.ts";
import { namesIn } from "../feed/names.ts";
import { useFocusOnAppearing } from "../parts/focus.ts";
import { Notice } from "../parts/notice.tsx";
import { shown } from "../parts/text.ts";
import { Decision, REQUIRE } from "./decision.tsx";
import { documentsOf, type Samples } from "./samples.ts";
import { STEPS, type StoryStep } from "./steps.ts";

/** The step's card beside all steps; one button leads on. */
export function StoryView({ samples }: { readonly samples: Samples }) {
  const [step, setStep] = useState(0);
  const [moved, setMoved] = useState(false);
  const now = STEPS[step]!;
  const source = useMemo(
    () => ({
      read: () => documentsOf(samples, now.feed),
      expectedIssuer: samples.issuer,
    }),
    [samples, now.feed],
  );
  const verification = useVerification(source);
  const checked = verification?.at === "done"
    ? verification.checked
    : undefined;
  const go = (to: number) => {
    setMoved(true);
    setStep(to);
  };
  return (
    <div class="demo">
      <div class="stage">
        <Stage
          key={step}
          now={now}
          next={STEPS[step + 1]}
          samples={samples}
          checked={checked}
          takesFocus={moved}
          onNext={() => go((step + 1) % STEPS.length)}
        />
        {verification?.at === "none" && (
          <Notice kind="warning">
            <p>{shown(verification.why)}</p>
          </Notice>
        )}
      </div>
      <Aside step={step} checked={checked} onStep={go} />
    </div>
  );
}

function Stage({ now, next, samples, checked, takesFocus, onNext }: {
  readonly now: StoryStep;
  readonly next: StoryStep | undefined;
  readonly samples: Samples;
  readonly checked: CheckedFeed | undefined;
  readonly takesFocus: boolean;
  readonly onNext: () => void;
}) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>(takesFocus);
  return (
    <section class="card" id="story-step">
      <p class="quiet">
        Step {STEPS.indexOf(now) + 1} of {STEPS.length}
      </p>
      <h2 ref={heading}>{now.title}</h2>
      <p>{now.text}</p>
      {now.asks && (
        <div id="decision" aria-live="polite">
          <p class="quiet">
            <code>{samples.subject}</code>, <code>{REQUIRE.join(" ")}</code>
          </p>
          {checked && <Decision checked={checked} samples={samples} />}
        </div>
      )}
      <div class="actions">
        {next === undefined && (
          <a class="button primary" href="#/explore">Explore a larger feed</a>
        )}
        <button type="button" class={next ? "primary" : ""} onClick={onNext}>
          {(next ?? STEPS[0]!).button}
        </button>
      </div>
    </section>
  );
}

function Aside({ step, checked, onStep }: {
  readonly step: number;
  readonly checked: CheckedFeed | undefined;
  readonly onStep: (step: number) => void;
}) {
  const names = useMemo(() => namesIn(checked?.events ?? []), [checked]);
  return (
    <aside class="card tour" aria-labelledby="story-steps">
      <h2 id="story-steps">The story in five steps</h2>
      <StorySteps steps={STEPS} done={step} onStep={onStep} />
      <h3>What the feed says</h3>
      {checked === undefined
        ? <p class="quiet">Verifying it in this browser…</p>
        : checked.state === undefined
        ? <p class="quiet">Nothing that anyone can rely on.</p>
        : <NewestEvents events={checked.events} names={names} />}
    </aside>
  );
}
