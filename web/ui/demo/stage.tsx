/** What the person does now; one button leads on. @module */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { MISSING } from "../keys/missing.ts";
import { useFocusOnAppearing } from "../parts/focus.ts";
import { Notice } from "../parts/notice.tsx";
import type { Site } from "../site/site.ts";
import { SignInCard } from "../sign_in/sign_in_card.tsx";
import { useLogin } from "../sign_in/use_login.ts";
import { ApplicationsClose, OpenApplications } from "./applications.tsx";
import type { Story } from "./use_story.ts";

/** What a stage is given. */
export interface StageProps {
  readonly site: Site;
  readonly story: Story;
}

/** The step's card. */
export function Stage({ site, story }: StageProps) {
  const { step, relationship } = story;
  const [hasBegun] = useState(step !== "key");
  if (!site.keys.ready) return null;
  if (site.keys.missing !== undefined) {
    return (
      <Notice kind="warning">
        <p>
          <strong>No key can live here.</strong> {MISSING[site.keys.missing]}
        </p>
        <p>The story needs one. Try it in another browser.</p>
      </Notice>
    );
  }
  if (step === "key") return <MakeKey story={story} />;
  if (step === "hired") {
    // Its feed may name this key already.
    if (story.feed === undefined) {
      return (
        <Step title="Be hired">
          <p class="quiet">Reading the feed…</p>
        </Step>
      );
    }
    return <BeHired story={story} takesFocus={!hasBegun} />;
  }
  if (story.watched.length > 0 && relationship?.status === "revoked") {
    return <ApplicationsClose story={story} />;
  }
  // Whoever comes back from an application goes on where they were.
  const isElsewhere = (step === "apps" || step === "let-go") && !story.signedIn;
  if (isElsewhere) {
    return (
      <section class="card">
        <h2>You are in</h2>
        <OpenApplications story={story} />
      </section>
    );
  }
  return (
    <DemoLogin
      // One login before the end, and one behind it.
      key={relationship?.last_sequence ?? 0}
      site={site}
      story={story}
    />
  );
}

function Step({ title, takesFocus = false, children }: {
  readonly title: string;
  readonly takesFocus?: boolean;
  readonly children: ComponentChildren;
}) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>(takesFocus);
  return (
    <section class="card">
      <h2 ref={heading}>{title}</h2>
      {children}
    </section>
  );
}

function MakeKey({ story }: { readonly story: Story }) {
  return (
    <Step title="Make a key">
      <p>
        It is your name here, instead of a password. It is made in this browser
        and stays in it: not even this page can read it, only ask it to sign.
      </p>
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={story.busy}
          onClick={() => void story.makeKey()}
        >
          Make my key
        </button>
      </div>
    </Step>
  );
}

function BeHired({ story, takesFocus }: {
  readonly story: Story;
  readonly takesFocus: boolean;
}) {
  const [name, setName] = useState("Alice");
  return (
    <Step title="Be hired" takesFocus={takesFocus}>
      <p>
        Now play the employer: its key signs an event that says your key is an
        employee’s, and the event goes to its public feed.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void story.enrol(name.trim());
        }}
      >
        <div class="field">
          <label for="enrol-name">Your name there</label>
          <input
            id="enrol-name"
            type="text"
            maxLength={100}
            autocomplete="given-name"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
        <button type="submit" class="primary" disabled={story.busy}>
          {story.busy ? "The issuer signs…" : "Enrol me"}
        </button>
      </form>
    </Step>
  );
}

function DemoLogin({ site, story }: StageProps) {
  const { step, busy } = story;
  const flow = useLogin(site, { onOutcome: story.note });
  return (
    <>
      <SignInCard
        site={site}
        flow={flow}
        takesFocus
        next={step === "apps" || step === "let-go"
          ? <OpenApplications story={story} />
          : step === "end"
          ? (
            <button
              type="button"
              disabled={busy}
              onClick={() => void story.enrol("Alice")}
            >
              Be hired again
            </button>
          )
          : undefined}
      />
      {step === "end" && (
        <section class="card tour-end">
          <h2>That is the whole idea.</h2>
          <p>
            Nobody told this site that you left. It read the same public feed as
            anyone, and so could a hundred other sites at the same moment.
          </p>
        </section>
      )}
    </>
  );
}
