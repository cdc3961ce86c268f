/**
 * The script of `/docs`: shows the service's OpenAPI document and sends requests
 * to the service itself. What comes from there is shown as text. `deno task docs`
 * takes {@linkcode readRoutes} from here, for `docs/reference/http.md`.
 *
 * @module
 */

/** Members of members are shown; what is deeper would hide the rest. */
const MAX_DEPTH = 2;
/** Values that are named one by one. */
const MAX_NAMED = 12;

/** What people read of each route of an OpenAPI document, in its order. */
export function readRoutes({ paths, components }) {
  const resolve = (schema) => {
    const name = schema.$ref?.split("/").at(-1);
    return name ? { ...components.schemas[name], ...schema } : schema;
  };

  /** The values that a schema takes, in short: `integer, 1 to 10`. */
  const kindOf = (schema) => {
    const { type, items, minimum, maximum, maxItems } = schema;
    const all = schema.anyOf?.map(resolve) ??
      (Array.isArray(type) ? type.map((type) => ({ type })) : undefined);
    if (all) return [...new Set(all.map(kindOf))].join(" or ");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum?.length <= MAX_NAMED) {
      return schema.enum.map((each) => JSON.stringify(each)).join(" or ");
    }
    if (type === "array") {
      const kind = kindOf(resolve(items));
      const most = maxItems === undefined ? "" : `, at most ${maxItems}`;
      return `list of ${kind.includes(" or ") ? `(${kind})` : kind}${most}`;
    }
    const isBounded = minimum !== undefined && maximum !== undefined &&
      maximum !== Number.MAX_SAFE_INTEGER;
    return `${type ?? "any JSON"}${
      isBounded ? `, ${minimum} to ${maximum}` : ""
    }`;
  };

  /** The members of an object; `isAnswer`: they are there if nothing is said. */
  const membersOf = ({ properties = {}, required = [] }, isAnswer, depth) =>
    depth === MAX_DEPTH
      ? []
      : Object.entries(properties).map(([name, schema]) => {
        const member = resolve(schema);
        const inner = [member, member.items, ...member.anyOf ?? []]
          .map((each) => resolve(each ?? {})).find((each) => each.properties);
        const isRequired = required.includes(name);
        return {
          name,
          kind: kindOf(member),
          note: isAnswer === isRequired
            ? ""
            : isRequired
            ? "required"
            : "not always there",
          description: member.description ?? "",
          members: membersOf(inner ?? {}, isAnswer, depth + 1),
        };
      });

  const bodyOf = ({ description, content }, isAnswer) => {
    const [[type, { schema, examples = {} }]] = Object.entries(content);
    const whole = resolve(schema);
    const choices = whole.properties ? undefined : whole.anyOf ?? whole.oneOf;
    const shapes = (choices?.map(resolve) ?? [whole]).map((shape) => ({
      description: shape.description === description
        ? ""
        : shape.description ?? "",
      members: membersOf(shape, isAnswer, 0),
    }));
    return { description, type, shapes, examples };
  };

  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { requestBody, responses: { 200: ok, ...others } } = operation;
      const request = requestBody && bodyOf(requestBody, false);
      const answer = bodyOf(ok, true);
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        tag: operation.tags[0],
        summary: operation.summary,
        description: operation.description,
        isOpen: operation.security?.length === 0,
        request,
        answer,
        examples: Object.entries((request ?? answer).examples).map((
          [name, { summary }],
        ) => ({
          summary,
          request: request?.examples[name].value,
          answer: answer.examples[name]?.value,
        })),
        problems: Object.entries(others).map(([status, { description }]) => ({
          status,
          codes: description,
        })),
      };
    })
  );
}

/** An element with these attributes and children; texts stay texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    made.setAttribute(attribute, value);
  }
  made.append(...children);
  return made;
}

/** Nodes of a text in which `code` stands between backticks. */
function prose(text) {
  return text.split("`").map((part, i) =>
    i % 2 === 0 ? part : element("code", {}, part)
  );
}

function pre(text) {
  return element("pre", { tabindex: 0 }, element("code", {}, text));
}

function fold(summary, ...children) {
  const title = element("summary", {}, ...prose(summary));
  return element("details", {}, title, ...children);
}

function note(text) {
  return element("span", { class: "note" }, text);
}

function quoteForShell(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A command that can be copied, where there is a clipboard: https and localhost. */
function command(text) {
  const block = element("div", { class: "command" }, pre(text));
  if (!navigator.clipboard) return block;
  const button = element("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 2000);
  });
  block.append(button);
  return block;
}

/** The page of a document that stands at this address. */
function show(api) {
  const routes = readRoutes(api);
  const base = new URL(api.servers[0].url, location.href);
  const needsToken = api.security.length === 1;
  const token = element("input", {
    ...{ id: "token", type: "password", autocomplete: "off" },
    spellcheck: "false",
  });
  const main = document.querySelector("main");
  main.querySelector("h1").append(" ", note(api.info.version));
  main.querySelector("#about").replaceChildren(
    ...prose(`${api.info.description} For programs: `),
    element("a", { href: "/openapi.json" }, ...prose("`/openapi.json`")),
  );
  if (needsToken) {
    const text = "Token, for trying routes on this page; it is kept nowhere";
    main.append(element("label", { for: "token" }, text), token);
  }
  for (const { name, description } of api.tags) {
    const links = routes.filter(({ tag }) => tag === name).map((route) => {
      const { id, method, path } = route;
      const link = element("a", { href: `#${id}` }, ...titleOf(method, path));
      return element("li", {}, link);
    });
    document.querySelector("#routes").append(
      element("h2", {}, ...prose(description)),
      element("ul", {}, ...links),
    );
  }
  for (const route of routes) main.append(section(route));
  document.getElementById(location.hash.slice(1))?.scrollIntoView();

  function titleOf(method, path) {
    const word = element("span", { class: "method" }, method);
    return [word, " ", element("code", {}, path)];
  }

  function section(route) {
    const { id, method, path, summary, description, request, answer } = route;
    const examples = route.examples.map((each) => ({
      title: each.summary,
      nodes: [
        command(toCurl(route, each.request)),
        ...each.answer === undefined
          ? []
          : [element("div", { class: "answer" }, pre(indented(each.answer)))],
      ],
    }));
    const [first, ...others] = examples;
    const errors = route.problems.flatMap(({ status, codes }) => [
      element("dt", {}, status),
      element("dd", {}, ...prose(codes)),
    ]);
    return element(
      "section",
      { "aria-labelledby": id },
      element("h2", { id }, ...titleOf(method, path)),
      element("p", {}, element("strong", {}, ...prose(summary))),
      ...first ? [note(first.title), ...first.nodes] : [command(toCurl(route))],
      ...others.map(({ title, nodes }) => fold(title, ...nodes)),
      ...answer.type === "application/json" ? [tryIt(route)] : [],
      element("p", {}, ...prose(description)),
      ...request ? [fold("Request", ...bodyNodes(request))] : [],
      fold("Answer", ...bodyNodes(answer)),
      fold("Errors", element("dl", {}, ...errors)),
    );
  }

  function toCurl({ path, isOpen }, body) {
    const lines = [`curl -sS ${quoteForShell(new URL(path, base).href)}`];
    if (needsToken && !isOpen) {
      lines.push('-H "authorization: Bearer $SIG_TOKEN"');
    }
    if (body !== undefined) {
      const data = quoteForShell(JSON.stringify(body));
      lines.push("-H 'content-type: application/json'", `-d ${data}`);
    }
    return lines.join(" \\\n  ");
  }

  function bodyNodes({ description, type, shapes }) {
    return [
      element("p", {}, ...prose(`${description} `), note(type)),
      ...shapes.flatMap(({ description, members }, i) => [
        element("p", {}, ...prose(`${i > 0 ? "Or: " : ""}${description}`)),
        memberList(members),
      ]),
    ];
  }

  function memberList(members) {
    const rows = members.flatMap((member) => {
      const { name, kind, description } = member;
      const about = note(member.note ? `${kind}, ${member.note}` : kind);
      const inner = member.members.length ? [memberList(member.members)] : [];
      return [
        element("dt", {}, element("code", {}, name), " ", about),
        element("dd", {}, ...prose(description), ...inner),
      ];
    });
    return element("dl", {}, ...rows);
  }

  function tryIt({ id, method, path, examples: [example] }) {
    const send = element("button", {}, "Send");
    const output = element("output", { "aria-live": "polite" });
    const form = element("form", {}, send, output);
    const body = element("textarea", { id: `${id}-body`, spellcheck: "false" });
    if (example?.request !== undefined) {
      body.value = indented(example.request);
      body.rows = Math.min(16, body.value.split("\n").length);
      const text = "Body";
      form.prepend(element("label", { for: body.id }, text), body);
    }
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      send.disabled = true;
      const headers = {
        ...token.value ? { authorization: `Bearer ${token.value}` } : {},
        ...body.value ? { "content-type": "application/json" } : {},
      };
      const request = { method, headers, body: body.value || undefined };
      output.replaceChildren(...await answerNodes(path, request));
      send.disabled = false;
    });
    return fold("Try it here", form);
  }
}

/** Asks the service, and shows what it answers. */
async function answerNodes(path, request) {
  const began = performance.now();
  try {
    const response = await fetch(path, request);
    const text = await response.text();
    const ms = Math.round(performance.now() - began);
    const status = `${response.status} ${response.statusText}, ${ms} ms`;
    return [element("p", {}, status), pre(indented(text))];
  } catch {
    // Scripts get no details of the failure.
    const why = "The service can't be reached, or did not answer.";
    return [element("p", {}, why)];
  }
}

function indented(value) {
  try {
    const data = typeof value === "string" ? JSON.parse(value) : value;
    return JSON.stringify(data, null, 2);
  } catch {
    return value;
  }
}

if (globalThis.document) {
  show(await (await fetch("/openapi.json")).json());
  // On narrow screens the routes are folded away, and a tap shows them.
  const isNarrow = matchMedia("(max-width: 56rem)").matches;
  document.querySelector("nav details").open = !isNarrow;
}
