/**
 * The page that is made of files: the story and the explorer on feeds that came
 * along. It asks nobody for anything. `deno task site` bundles it.
 *
 * @module
 */
/// <reference lib="dom" />

import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Explorer, type KnownIssuer } from "./explore/explorer.tsx";
import { serveVerification } from "./feed/check_feed.ts";
import { Copyable } from "./parts/copy.tsx";
import { readRoute } from "./parts/route.ts";
import { documentsOf, readSamples, type Samples } from "./story/samples.ts";
import { StoryView } from "./story/story_view.tsx";
import { DEMO_WORDS } from "./story/words.ts";

const BROUGHT_BY = "This page brought the documents along";
/** For the folder of the project; nothing but Node is needed. */
const LOGIN =
  "npx -y deno@2.9.6 task install && ~/.local/bin/sig web --demo --log off";

function StaticApp({ samples }: { readonly samples: Samples }) {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  const issuers = useMemo<readonly KnownIssuer[]>(
    () => [{
      did: samples.issuer,
      read: () => Promise.resolve(documentsOf(samples, "company")),
    }],
    [samples],
  );
  useEffect(() => {
    const follow = () => setRoute(readRoute(location.hash));
    addEventListener("hashchange", follow);
    document.documentElement.dataset.ready = "true";
    return () => removeEventListener("hashchange", follow);
  }, []);
  const explores = route.view === "explore";
  const current = (is: boolean) => is ? "page" as const : undefined;
  return (
    <>
      <nav class="ways" aria-label="Ways to try it">
        <a href="#/story" aria-current={current(!explores)}>The story</a>
        <a href="#/explore" aria-current={current(explores)}>Explore a feed</a>
      </nav>
      {explores
        ? <Explorer issuers={issuers} broughtBy={BROUGHT_BY} route={route} />
        : (
          <>
            <header class="page-head">
              <h1>{DEMO_WORDS.title}</h1>
              <p class="lede">{DEMO_WORDS.lede}</p>
              <p class="time">{DEMO_WORDS.time}</p>
            </header>
            <StoryView samples={samples} />
          </>
        )}
      <section class="card limits">
        <h2>What a page of files can’t do</h2>
        <p>
          Log you in: that takes a server, which asks each time for something
          new to be signed. On your machine, with a key that your browser makes,
          this plays that story too:
        </p>
        <Copyable visible={LOGIN} what="the command" />
      </section>
    </>
  );
}

if (typeof document === "undefined") serveVerification();
else {
  const place = document.getElementById("demo");
  if (place) {
    // What is read without scripts is drawn anew.
    place.replaceChildren();
    render(<StaticApp samples={readSamples()} />, place);
  }
}
