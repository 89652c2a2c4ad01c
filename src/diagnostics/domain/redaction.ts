/** Removes secrets from objects and texts. Everything in a support bundle passes through `redactedText` or `redactedValue`. */

/** Stands where a secret was. */
export const REMOVED = '[removed]';

/** The annotation that has a copy of the whole object, secrets included. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const SECRET_WORDS =
  'pass(?:word|wd|phrase)|secret|token|credentials?|authorization|cookie|private[-_.]?key|api[-_.]?key|access[-_.]?key|key[-_.]?data|cert(?:ificate)?[-_.]?data|authority[-_.]?data';
const SECRET_NAME = new RegExp(SECRET_WORDS, 'i');
/** Where a secret is, or what kind it is of, rather than the secret. */
const REFERENCE = /(names?|path|file|dir|folder|refs?|seconds|kind|type|api-?version|group)$/i;
const ENVIRONMENT = /^(env|environment)$/i;

/** Whether a field or flag of this name has a secret as its value. */
function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !REFERENCE.test(name);
}

/** A copy of a JSON value without secrets. */
export function redactedValue(value: unknown): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (Array.isArray(value)) return redactedList(value);
  if (typeof value !== 'object' || value === null) return value;
  const isSecret = 'kind' in value && value.kind === 'Secret';
  return Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => {
      if (name === LAST_APPLIED) return [name, REMOVED];
      if (isSecret && (name === 'data' || name === 'stringData')) return [name, withoutValues(field)];
      if (ENVIRONMENT.test(name)) return [name, redactedEnvironment(field)];
      return [name, isSecretName(name) ? redactedSecret(field) : redactedValue(field)];
    }),
  );
}

/** A secret may be the next word of a command line: `--token`, `abc`. */
function redactedList(list: readonly unknown[]): readonly unknown[] {
  return list.map((member, index) => {
    const before: unknown = list[index - 1];
    const isSecret = typeof before === 'string' && /^--?[\w.-]+$/.test(before) && isSecretName(before);
    return isSecret ? redactedSecret(member) : redactedValue(member);
  });
}

/** The value of a field with the name of a secret: objects in it can be references, as in `serviceAccountToken`. */
function redactedSecret(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number') return REMOVED;
  if (Array.isArray(value)) return value.map(redactedSecret);
  return redactedValue(value);
}

/** Variables as a list of names and values, as a list of `NAME=value`, or as an object. */
function redactedEnvironment(value: unknown): unknown {
  if (!Array.isArray(value)) return withoutValues(value);
  return value.map((variable: unknown) => {
    if (typeof variable === 'string') return variable.replace(/=[^]*/, `=${REMOVED}`);
    if (typeof variable !== 'object' || variable === null || !('value' in variable))
      return redactedValue(variable);
    return { ...variable, value: REMOVED };
  });
}

/** The names of an object's fields, and where values are no texts, the values. */
function withoutValues(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return redactedSecret(value);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, redactedSecret(field)]));
}

/** A quote, also one inside of a quoted text. */
const QUOTE = String.raw`\\*["']`;
/** Not after a slash or a dot: `shop/token` is the name of a Service. */
const NAMED = String.raw`(?<![\w./-])(${QUOTE})?((?:--?)?[\w.-]*?(?:${SECRET_WORDS}))(?:${QUOTE})?`;

/** What is removed from a text, and what stays of it. */
const RULES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Certificates and keys: as they are, and in base64.
  [/-----BEGIN [A-Z0-9 ]+-----[^]*?(?:-----END [A-Z0-9 ]+-----|$(?![^]))/g, REMOVED],
  [/LS0tLS1CRUdJTi[\w+/=]*(?:\s+[\w+/=]{40,})*/g, REMOVED],
  // JSON Web Tokens and bootstrap tokens.
  [/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, REMOVED],
  [/(?<![\w.-])[a-z0-9]{6}\.(?=[a-z]*\d)[a-z0-9]{16}(?![\w.-])/g, REMOVED],
  [/\b(bearer)(\s+)[\w.~+/=-]{6,}/gi, `$1$2${REMOVED}`],
  [/\b([Bb]asic)(\s+)(?=[\w+/]*[A-Z\d=])[\w+/]{6,}=*/g, `$1$2${REMOVED}`],
  [/:\/\/[^/\s:@"']*:[^/\s@"']+@/g, `://${REMOVED}@`],
  [
    new RegExp(
      String.raw`(${LAST_APPLIED.replace(/[./]/g, String.raw`\$&`)}["'\\]*\s*[:=]\s*).+(?:\n[ \t]+\{.*)?`,
      'g',
    ),
    `$1${REMOVED}`,
  ],
  // Environment variables of a manifest in YAML.
  [/(\bname:[^\n]*\n\s*value:[ \t]*)(?:[|>][-+]?[ \t]*(?:\n[ \t]+[^\n]*)+|[^\n]+)/g, `$1${REMOVED}`],
  // A field of YAML: a block, or the rest of the line.
  [
    new RegExp(
      String.raw`^([ \t]*)((?:- )?(?:${QUOTE})?[\w./-]*(?:${SECRET_WORDS})(?:${QUOTE})?[ \t]*:[ \t]+)(?:[|>][-+]?\d?[ \t]*(?:\n\1[ \t]+[^\n]*|\n[ \t]*(?=\n))*|[^\s{["'][^\n]*)`,
      'gim',
    ),
    `$1$2${REMOVED}`,
  ],
  // A quoted value, then one without quotes.
  [
    new RegExp(String.raw`${NAMED}(\s*[:=]\s*|\s+)(\\*["'])[^]{0,8192}?(?<!\\)\4`, 'gi'),
    `$1$2$1$3$4${REMOVED}$4`,
  ],
  [
    new RegExp(String.raw`${NAMED}(\s*[:=][ \t]*)(?!\[removed\])[^\s,;"'{}()[\]&\\]+`, 'gi'),
    `$1$2$1$3${REMOVED}`,
  ],
  [
    new RegExp(String.raw`(?<![\w-])(--?[\w.-]*(?:${SECRET_WORDS}))[ \t]+(?!-|\[removed\])[^\s"']+`, 'gi'),
    `$1 ${REMOVED}`,
  ],
];

/** Every text that a rule changes has one of these: most texts have none. */
const SUSPECT = new RegExp(
  `${SECRET_WORDS}|last-applied|-----BEGIN|LS0t|eyJ|[a-z0-9]{6}\\.[a-z0-9]{16}|bearer|basic|://|value:|^\\s*[{[]`,
  'im',
);

/** A text without secrets. Lines and texts that are JSON are redacted as JSON. */
export function redactedText(text: string): string {
  if (!SUSPECT.test(text)) return text;
  const json = redactedJson(text);
  if (json !== undefined) return json;
  const lines = text.split('\n').map((line) => redactedJson(line) ?? line);
  return RULES.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), lines.join('\n'));
}

/** In the same form: on one line, or indented. */
function redactedJson(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const [, before, json, after] = /^(\s*)([^]*?)(\s*)$/.exec(text)!;
    const indentation = json!.includes('\n') ? 2 : undefined;
    return `${before}${JSON.stringify(redactedValue(value), undefined, indentation)}${after}`;
  } catch {
    return undefined;
  }
}
