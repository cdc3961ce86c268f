/**
 * An open invitation: its issuer and offer, and the buttons to accept or
 * decline.
 *
 * @module
 */

import { wellKnownUrls } from "@sig/core";
import type { ParsedInvitation } from "@sig/jose";
import { useState } from "preact/hooks";
import { usePage } from "../api.ts";
import { Copyable, Did } from "../copy.tsx";
import {
  Alert,
  Card,
  Chips,
  Facts,
  Fold,
  Icon,
  OpenFiles,
} from "../elements.tsx";
import { IDENTITY } from "../explore/documents.ts";
import { DeviceLink } from "../keys/add_device.tsx";
import { ApproveOrDecline, KeyChoice, NEW_KEY } from "../keys/key_choice.tsx";
import {
  commandLine,
  hostOf,
  insecureFlag,
  shortened,
  typeLabel,
  visibleText,
} from "../text.ts";
import { Time, Validity } from "../time.tsx";
import type { Invitation, InvitationState, Trust } from "./use_invitation.ts";

/** The card of an open invitation. */
export function OfferCard({ invitation, parsed, state, autoFocus }: {
  readonly invitation: Invitation;
  readonly parsed: ParsedInvitation;
  readonly state: Extract<InvitationState, { at: "open" }>;
  readonly autoFocus: boolean;
}) {
  const { keys } = usePage();
  const { claims, expires_at } = parsed;
  const { trust, personName } = state;
  const [wanted, setWanted] = useState<string | undefined>();
  const { same_person_as: person } = claims;
  // The invitation is for another key of the person, so their existing key
  // can't answer it.
  const others = keys.all.filter(({ did }) => did !== person);
  const isOwn = others.length < keys.all.length;
  const chosen = wanted ?? (isOwn ? undefined : keys.current?.did) ?? NEW_KEY;
  const host = hostOf(claims.iss);
  // Files can claim any issuer, so only the server's documents count here.
  const isKnown = "by" in trust && trust.by === "server";
  const flags = ["--out", "answer.json", ...insecureFlag(claims.iss)];
  const accept = (invitation: string) =>
    commandLine(["sig", "accept", invitation, ...flags]) ?? "";
  const command = (
    <Copyable
      visible={accept(shortened(parsed.text, 24))}
      copied={accept(parsed.text)}
      what="the command"
    />
  );
  const answering = (
    <>
      <p class="error" role="alert">{invitation.error}</p>
      <ApproveOrDecline
        createsKey={chosen === NEW_KEY}
        isBusy={invitation.busy}
        commandLine={command}
        onApprove={() => invitation.approve(chosen)}
        onDecline={invitation.decline}
      />
      {"by" in trust && keys.missing === undefined && (
        <Fold title="Use the command line instead">{command}</Fold>
      )}
    </>
  );

  /**
   * Verification by the command line, which fetches from the issuer itself, or
   * with documents that the person gets from the issuer: the page's policy
   * allows requests to its own server only.
   */
  function verifyYourself() {
    const isPublic = insecureFlag(claims.iss).length === 0;
    const urls = isPublic && wellKnownUrls(claims.iss);
    return (
      <Fold
        id="verify-yourself"
        title="Verify it yourself"
        isOpen={invitation.filesError !== ""}
      >
        <div class="stack">
          <h3>On the command line</h3>
          <p>This asks {host} itself, and refuses a forged invitation.</p>
          {command}
          <h3>Or here</h3>
          <p>
            Save what {host}{" "}
            publishes about its keys, then open the files. Check the address
            before you save: it is what proves where they come from.
          </p>
          <ul class="plain">
            {urls && IDENTITY.map((name) => (
              <li key={name}>
                <a href={urls[name]} target="_blank" rel="noreferrer">
                  {urls[name]}
                </a>
              </li>
            ))}
          </ul>
          <OpenFiles
            id="issuer-files"
            hint="sig.json, jwks.json and did.json. They stay in this browser."
            onFiles={(files) => void invitation.verifyWith(files)}
          />
          <p class="error" role="alert">{invitation.filesError}</p>
        </div>
      </Fold>
    );
  }

  return (
    <Card
      id="offer"
      title={
        <>
          {!isKnown && "An invitation in the name of "}
          <strong>{host}</strong>
          {isKnown && " invites you"}
        </>
      }
      titleId="offers"
      isAnswer
      autoFocus={autoFocus}
    >
      <TrustLine host={host} trust={trust} />
      {"why" in trust && verifyYourself()}
      {isOwn && (
        <Alert kind="info">
          <p>
            <strong>Open this on your new device.</strong>{" "}
            This browser has a key of yours already.
          </p>
          <DeviceLink text={parsed.text} />
        </Alert>
      )}
      <Facts
        of={{
          "Another key of": person !== undefined && (
            <>
              {personName && <strong>{visibleText(personName)}</strong>}
              <Did did={person} what="the did:key of the other key" />{" "}
              <span class="quiet">
                (answer only if that key is yours: both get the same accounts)
              </span>
            </>
          ),
          For: claims.for !== undefined && (
            <>
              {visibleText(claims.for)}{" "}
              <span class="quiet">(never published)</span>
            </>
          ),
          "You will be": `${typeLabel(claims.relationship_type)} of ${host}`,
          Roles: claims.roles.length > 0 && <Chips texts={claims.roles} />,
          Valid: (
            <Validity
              from={claims.valid_from}
              until={claims.valid_until}
              none="without an end"
            />
          ),
          "Answer until": <Time instant={expires_at} />,
          "It will publish":
            "your key’s name and all of the above, public for everybody",
          "You answer with": keys.missing === undefined &&
            others.length > 0 && (
            <KeyChoice
              among={others}
              value={chosen}
              offersNew
              onChoose={setWanted}
            />
          ),
        }}
      />
      {isOwn
        ? (
          <Fold title="Answer in this browser, with a new key">
            {answering}
          </Fold>
        )
        : answering}
    </Card>
  );
}

function TrustLine({ host, trust }: { host: string; trust: Trust }) {
  if ("by" in trust) {
    return (
      <p class="met" data-kind="success">
        <Icon name="yes" />
        <span>
          {trust.by === "server"
            ? `Signed by ${host}, verified here`
            : `Signed according to the documents that you opened. That is ${host} only if you saved them from https://${host}`}
        </span>
      </p>
    );
  }
  return (
    <Alert kind="warning">
      <p>
        <strong>NOT VERIFIED.</strong> {trust.why}
      </p>
      <p>
        Answer only if you know who sent you the link. {host}{" "}
        accepts answers to its own invitations only.
      </p>
    </Alert>
  );
}
