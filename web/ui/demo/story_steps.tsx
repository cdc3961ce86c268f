/** The steps of a story, and how far it has come. @module */

import { Icon } from "../parts/icon.tsx";

/** One of them. */
interface ShownStep {
  readonly title: string;
  readonly detail: string;
}

/**
 * A list of steps: those before `done` are done, and it is the one of now. With
 * `onStep` each can be gone to.
 */
export function StorySteps({ steps, done, onStep }: {
  readonly steps: readonly ShownStep[];
  readonly done: number;
  readonly onStep?: (step: number) => void;
}) {
  return (
    <ol class="tour-steps">
      {steps.map(({ title, detail }, i) => {
        const state = i < done ? "done" : i === done ? "now" : "later";
        const name = <strong>{title}</strong>;
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
              {onStep === undefined ? name : (
                <button
                  type="button"
                  class="row-button"
                  onClick={() => onStep(i)}
                >
                  {name}
                </button>
              )}
              {state === "done" && <span class="visually-hidden">(done)</span>}
              <p>{detail}</p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}
