/** The script of the login page; `deno task bundle-login` bundles it. @module */
/// <reference lib="dom" />

import { escapeInvisible, isSigError } from "@sig/core";
import { createKey, findMissing, loadKey, signIn } from "../browser/mod.ts";

const MISSING = {
  insecure: "Browsers hold keys for pages on https or on this machine only.",
  ed25519: "This browser can't sign with Ed25519 yet. A newer version can.",
  storage: "This browser keeps nothing for this page, as in a private window.",
};

const find = (id: string) => document.getElementById(id)!;
const button = find("go") as HTMLButtonElement;
const path = document.querySelector("main")!.dataset.path ?? "";

function say(text: string): void {
  find("status").textContent = escapeInvisible(text);
}

/** Only to this application: a link must not lead people out of it. */
function placeAfter(): string {
  const rd = new URLSearchParams(location.search).get("rd") ?? "/";
  const url = URL.parse(rd, location.href);
  return url?.origin === location.origin ? url.href : "/";
}

async function begin(): Promise<void> {
  const missing = await findMissing();
  if (missing !== undefined) return say(MISSING[missing]);
  const key = await loadKey() ?? await createKey();
  find("key").textContent = key.did;
  say(`Your key answers ${location.origin}, and nobody else.`);
  button.disabled = false;
}

button.addEventListener("click", async () => {
  button.disabled = true;
  try {
    await signIn({
      challengeUrl: `${path}/challenge`,
      answerUrl: `${path}/session`,
      audience: location.origin,
    });
    location.assign(placeAfter());
  } catch (error) {
    say(
      isSigError(error, "relationship_denied")
        ? "The issuer does not vouch for your key. Send it to them: it is below."
        : isSigError(error)
        ? error.message
        : "It failed. Try again.",
    );
    button.disabled = false;
  }
});

begin().catch(() => say("It failed. Load the page again."))
  .finally(() => document.documentElement.dataset.ready = "");
