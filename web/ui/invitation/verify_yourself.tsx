/** How a person verifies what this page can't. @module */

import { OpenFiles } from "../parts/open_files.tsx";
import { type ParsedInvitation, wellKnownUrls } from "../libraries/mod.ts";
import { hostOf } from "../parts/text.ts";
import { OnCommandLine } from "./on_command_line.tsx";

/** In the order in which they are told. */
const NEEDED = ["metadata", "jwks", "did_document"] as const;

/**
 * By the command line, which asks the issuer itself, or with the issuer's own
 * documents: the browser gets them from its host when the person says so.
 */
export function VerifyYourself({ invitation, trouble, onFiles }: {
  readonly invitation: ParsedInvitation;
  /** Why the files that were opened are not it, if they are not. */
  readonly trouble: string;
  readonly onFiles: (files: readonly File[]) => void;
}) {
  const { iss } = invitation.claims;
  const host = hostOf(iss);
  const urls = publicUrlsOf(iss);
  return (
    <details class="more" id="verify-yourself" open={trouble !== ""}>
      <summary>Verify it yourself</summary>
      <div class="ways-to-verify">
        <h3>On the command line</h3>
        <p>This asks {host} itself, and refuses a forgery before you answer.</p>
        <OnCommandLine invitation={invitation} />
        <h3>Or here</h3>
        <p>
          Save what {host}{" "}
          publishes about its keys, then open the files. Look at the address
          before you save: they count because they come from there.
        </p>
        {urls !== undefined && (
          <ul class="documents">
            {NEEDED.map((name) => (
              <li key={name}>
                <a href={urls[name]} target="_blank" rel="noreferrer">
                  {urls[name]}
                </a>
              </li>
            ))}
          </ul>
        )}
        <OpenFiles
          id="issuer-files"
          hint="sig.json, jwks.json and did.json. They stay in this browser."
          onFiles={onFiles}
        />
        <p class="error" role="alert">{trouble}</p>
      </div>
    </details>
  );
}

/** Where an issuer publishes; undefined for one that others don't reach. */
function publicUrlsOf(did: string) {
  try {
    return wellKnownUrls(did);
  } catch {
    return undefined;
  }
}
