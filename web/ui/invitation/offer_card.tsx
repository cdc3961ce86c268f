/** An invitation that waits: what a person must know, and the two answers. @module */

import { useState } from "preact/hooks";
import { being } from "../feed/names.ts";
import { KeyChoice, NEW_KEY } from "../keys/key_choice.tsx";
import { MISSING } from "../keys/missing.ts";
import type { ParsedInvitation } from "../libraries/mod.ts";
import { Chips, Fact, Facts } from "../parts/facts.tsx";
import { useFocusOnAppearing } from "../parts/focus.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { hostOf, shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { TwoAnswers } from "../parts/two_answers.tsx";
import type { Site } from "../site/site.ts";
import { OnCommandLine } from "./on_command_line.tsx";
import type { InvitationFlow, InvitationStage } from "./use_invitation.ts";
import { VerifyYourself } from "./verify_yourself.tsx";

/** What the card is drawn of. */
export interface OfferCardProps {
  readonly site: Site;
  readonly flow: InvitationFlow;
  readonly invitation: ParsedInvitation;
  readonly stage: Extract<InvitationStage, { at: "open" }>;
  readonly takesFocus: boolean;
}

/** Who invites to what and until when; approve and decline. */
export function OfferCard(
  { site, flow, invitation, stage, takesFocus }: OfferCardProps,
) {
  const { claims, expires_at } = invitation;
  const { standing, trouble = "" } = stage;
  const { keys } = site;
  const [wanted, setWanted] = useState<string | undefined>();
  const chosen = wanted ?? keys.current?.did ?? NEW_KEY;
  const heading = useFocusOnAppearing<HTMLHeadingElement>(takesFocus);
  const host = hostOf(claims.iss);
  // Whoever can name a key in a file can name the issuer in it, too.
  const isKnown = standing.at === "verified" && standing.by === "server";
  return (
    <section class="card sign-in-card" id="offer" aria-labelledby="offers">
      <h2 id="offers" ref={heading}>
        {isKnown
          ? (
            <>
              <strong>{host}</strong> invites you
            </>
          )
          : (
            <>
              An invitation in the name of <strong>{host}</strong>
            </>
          )}
      </h2>
      {standing.at === "verified"
        ? (
          <p class="verified">
            <Icon name="yes" />
            <span>
              {isKnown
                ? `Signed by ${host}, verified here`
                : `Signed as the documents say that you opened: by ${host}, if you saved them from https://${host} and nowhere else`}
            </span>
          </p>
        )
        : (
          <>
            <Notice kind="warning">
              <p>
                <strong>NOT VERIFIED.</strong> {standing.why}
              </p>
              <p>
                Answer only if you know who sent you the link. A forged
                invitation gets nobody anything: {host}{" "}
                takes answers to its own ones only.
              </p>
            </Notice>
            <VerifyYourself
              invitation={invitation}
              trouble={stage.filesTrouble ?? ""}
              onFiles={(files) => void flow.verifyWith(files)}
            />
          </>
        )}
      <Facts>
        {claims.for !== undefined && (
          <Fact name="For">
            {shown(claims.for)} <span class="quiet">(never published)</span>
          </Fact>
        )}
        <Fact name="You will be">
          {being(claims.relationship_type)} of {host}
        </Fact>
        {claims.roles.length > 0 && (
          <Fact name={claims.roles.length === 1 ? "Role" : "Roles"}>
            <Chips texts={claims.roles} />
          </Fact>
        )}
        <Fact name="Valid">
          <Validity from={claims.valid_from} until={claims.valid_until} />
        </Fact>
        <Fact name="Answer until">
          <Time instant={expires_at} />
        </Fact>
        <Fact name="It will publish">
          your key’s name with the above, for everybody to read
        </Fact>
        {keys.missing === undefined && keys.all.length > 0 && (
          <Fact name="You answer with">
            <KeyChoice
              keys={keys}
              value={chosen}
              offersNew
              onChoose={setWanted}
            />
          </Fact>
        )}
      </Facts>
      {keys.missing === undefined
        ? (
          <>
            {keys.ready && chosen === NEW_KEY && (
              <p class="first-key">
                Approving makes your key: kept in this browser, readable by
                nobody, and your name at {host} from then on.
              </p>
            )}
            <p class="error" role="alert">{trouble}</p>
            <TwoAnswers
              canApprove={!flow.busy && keys.ready}
              canDecline={!flow.busy}
              onApprove={() => void flow.approve(chosen)}
              onDecline={flow.decline}
            />
            {standing.at === "verified" && (
              <details class="more">
                <summary>Use the command line instead</summary>
                <OnCommandLine invitation={invitation} />
              </details>
            )}
          </>
        )
        : (
          <>
            <Notice kind="warning">
              <p>
                <strong>No key can live here.</strong> {MISSING[keys.missing]}
              </p>
              <p>You can still answer, on the command line:</p>
            </Notice>
            <OnCommandLine invitation={invitation} />
          </>
        )}
    </section>
  );
}

function Validity({ from, until }: {
  readonly from: string | undefined;
  readonly until: string | undefined;
}) {
  return (
    <>
      {from !== undefined && (
        <>
          from <Time instant={from} />
          {" "}
        </>
      )}
      {until === undefined ? "without an end" : (
        <>
          until <Time instant={until} />
        </>
      )}
    </>
  );
}
