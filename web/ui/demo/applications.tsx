/** Two applications that the same key opens, and the same revocation closes. @module */

import { useFocusOnAppearing } from "../parts/focus.ts";
import { Badge, Notice } from "../parts/notice.tsx";
import { shown } from "../parts/text.ts";
import type { Story } from "./use_story.ts";

/** Leads to both, then to the end. */
export function OpenApplications({ story }: { readonly story: Story }) {
  const { apps, busy, step } = story;
  const next = apps.findIndex(({ open }) => !open);
  return (
    <>
      {apps.length > 0 && (
        <div class="next">
          <h3>Open two applications with it</h3>
          <p>
            Each is a site of its own, in a new tab. Your key answers for the
            first; the second asks you nothing.
          </p>
          <ul class="apps">
            {apps.map(({ name, url, how, open }, i) => (
              <li key={name}>
                <a
                  class={i === next ? "button primary" : "button"}
                  href={url}
                  target="_blank"
                  rel="noopener"
                >
                  Open the {shown(name.toLowerCase())}
                  <span class="visually-hidden">(in a new tab)</span>
                </a>
                <p>
                  {open
                    ? <Badge kind="success">you are in</Badge>
                    : <Badge kind="neutral">not open yet</Badge>}{" "}
                  <span class="quiet">{shown(how)}</span>
                </p>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class="next">
        <h3>{apps.length > 0 ? "Then be let go" : "Now be let go"}</h3>
        <p>
          Play the employer once more: its key signs that it is over. It tells
          {apps.length > 0 ? " none of these sites" : " nobody"}.
        </p>
        <button
          type="button"
          class={step === "let-go" ? "primary" : undefined}
          disabled={busy}
          onClick={() => void story.revoke()}
        >
          {busy ? "The issuer signs…" : "Revoke me as the issuer would"}
        </button>
      </div>
    </>
  );
}

/** What happens by itself. */
export function ApplicationsClose({ story }: { readonly story: Story }) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>();
  const { relationship, watched } = story;
  const left = watched.filter(({ open }) => open).length;
  return (
    <section class="card">
      <h2 ref={heading}>Now watch, and click nothing</h2>
      <p>
        Event #{relationship?.last_sequence}{" "}
        says that it is over. Whoever reads the feed knows.
      </p>
      <ul class="apps">
        {watched.map(({ name, open }) => (
          <li key={name}>
            <p>
              <strong>{shown(name)}</strong> {open
                ? <Badge kind="warning" mark="clock">still open</Badge>
                : <Badge kind="danger">closed itself</Badge>}
            </p>
          </li>
        ))}
      </ul>
      <div role="status">
        {left === 0 && (
          <Notice kind="success">
            <p>
              {watched.length === 1 ? "It is closed." : "Both are closed."}{" "}
              Look at the other tabs: each says why.
            </p>
          </Notice>
        )}
      </div>
      <div class="actions">
        <button type="button" class="primary" onClick={story.goOn}>
          Try to sign in again
        </button>
      </div>
    </section>
  );
}
