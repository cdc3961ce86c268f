/**
 * The demo: one path, one thing to do at a time. What it shows of the issuer
 * comes from its feed, verified here.
 *
 * @module
 */

import { Notice } from "../parts/notice.tsx";
import type { Site } from "../site/site.ts";
import { hostOf, shown } from "../parts/text.ts";
import { Stage } from "./stage.tsx";
import { stepsOf, Tour, TourBar } from "./tour.tsx";
import { useStory } from "./use_story.ts";

/** The tour beside what the person does. */
export function DemoView({ site }: { readonly site: Site }) {
  const story = useStory(site);
  const { steps, done } = stepsOf(story);
  return (
    <>
      <header class="page-head">
        <h1 tabIndex={-1}>Hired, in, let go, refused</h1>
        <p class="lede">
          <strong>{hostOf(story.issuer)}</strong>{" "}
          publishes who works for it, signed. This site lets in only them. Every
          step is real, and takes a second.
        </p>
      </header>
      <TourBar story={story} />
      <div class="demo">
        <div class="stage">
          {story.trouble !== "" && (
            <div role="alert">
              <Notice kind="danger">
                <p>{shown(story.trouble)}</p>
              </Notice>
            </div>
          )}
          <Stage site={site} story={story} />
        </div>
        <Tour site={site} story={story} />
      </div>
      <p class="visually-hidden" aria-live="polite">
        {done < steps.length
          ? `Step ${done + 1} of ${steps.length}`
          : "The end"}
      </p>
    </>
  );
}
