/** The view of a login. @module */

import type { Site } from "../site/site.ts";
import { SignInCard } from "./sign_in_card.tsx";
import { useLogin } from "./use_login.ts";

/** One card, in the middle. */
export function SignInView({ site, interaction, takesFocus }: {
  readonly site: Site;
  readonly interaction: string | undefined;
  readonly takesFocus: boolean;
}) {
  const flow = useLogin(site, { interaction });
  return (
    <div class="narrow">
      <h1 class="visually-hidden">Sign in</h1>
      <SignInCard site={site} flow={flow} takesFocus={takesFocus} />
      <p class="promise">
        With a key that never leaves this browser. No password, and the site
        learns only what you approve.
      </p>
    </div>
  );
}
