import { readdirSync, readFileSync } from 'node:fs';
import {
  allAnswers,
  answers,
  clusterAnswers,
  jsonSchemas,
  routes,
  schemaOf,
  type JsonSchema,
} from '../../scripts/docs/json-schemas.js';
import { CLUSTER_QUERIES } from '../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
import { subcommandsOf } from '../../src/diagnostics/adapters/cli/subcommands.js';
import {
  explanationOf,
  portOf,
  statusOf,
  trafficReport,
} from '../diagnostics/application/cluster/samples.js';
import { wholeAnswers } from '../diagnostics/adapters/cli/asking/whole-answers.js';

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Whether a value satisfies a schema: the keywords that `JsonSchema` names, as the standard defines them. */
function satisfies(value: unknown, schema: JsonSchema): boolean {
  const { type, format, properties = {}, required = [], items, anyOf, allOf = [], if: condition } = schema;
  if (type !== undefined && typeOf(value) !== type) return false;
  if (format === 'date-time' && !RFC_3339.test(value as string)) return false;
  if (schema.enum && !schema.enum.includes(value as string)) return false;
  if (typeOf(value) === 'object') {
    const object = value as Readonly<Record<string, unknown>>;
    if (!required.every((name) => Object.hasOwn(object, name))) return false;
    for (const [name, part] of Object.entries(properties))
      if (Object.hasOwn(object, name) && !satisfies(object[name], part)) return false;
  }
  if (items && Array.isArray(value) && !value.every((one) => satisfies(one, items))) return false;
  if (anyOf && !anyOf.some((one) => satisfies(value, one))) return false;
  if (condition && !satisfies(value, (satisfies(value, condition) ? schema.then : schema.else) ?? {}))
    return false;
  return allOf.every((one) => satisfies(value, one));
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Answers of tests, as a proxy sends them: their times as texts. */
const samples: readonly (readonly [string, unknown])[] = [
  ...wholeAnswers.map(([name, , , answer]) => [name, json(answers[name]!(json(answer), ''))] as const),
  ['status', statusOf({})],
  ['explain', explanationOf([portOf({})])],
  ['explain', [explanationOf([portOf({})]), explanationOf([])]],
  ['top', trafficReport([])],
];

/** Each value with one of its parts missing or of another type. */
function* wrong(value: unknown): Generator<unknown> {
  yield null;
  if (typeof value === 'object') yield 'x';
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (!Array.isArray(value)) {
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield rest;
    }
    for (const other of wrong(part))
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
  }
}

it.each(samples)(
  'an answer of %s satisfies its schema; of answers with a fault, exactly those that its shape accepts',
  (name, sample) => {
    const shape = answers[name]!;
    const schema = schemaOf(shape);
    expect(satisfies(json(sample), schema)).toBe(true);
    let rejected = 0;
    for (const faulty of wrong(json(sample))) {
      const isAccepted = ((): boolean => {
        try {
          shape(faulty, '');
          return true;
        } catch {
          rejected++;
          return false;
        }
      })();
      if (satisfies(faulty, schema) !== isAccepted)
        throw new Error(`the schema ${isAccepted ? 'rejects' : 'accepts'} ${JSON.stringify(faulty)}`);
    }
    expect(rejected).toBeGreaterThan(3);
  },
);

/** All names of fields in a schema, with the types of their values. */
function* fieldTypes(schema: JsonSchema): Generator<readonly [string, string]> {
  const { properties = {}, items, anyOf = [], allOf = [], then, else: otherwise } = schema;
  const types = Object.entries(properties).map(([name, part]) => [name, typesOf(part)] as const);
  // Counts are named after what they count: `endpointCounts: {used, known}`.
  const areCounts = types.length > 1 && types.every(([, all]) => all.join() === 'number');
  if (!areCounts) for (const [name, all] of types) for (const type of all) yield [name, type];
  for (const part of Object.values(properties)) yield* fieldTypes(part);
  for (const part of [items, ...anyOf, ...allOf, then, otherwise]) if (part) yield* fieldTypes(part);
}

function typesOf({ type, enum: values, anyOf, allOf }: JsonSchema): readonly string[] {
  if (type !== undefined) return [type];
  if (values) return [...new Set(values.map((value) => typeof value))];
  return [...new Set([...(anyOf ?? []), ...(allOf ?? [])].flatMap(typesOf))];
}

it('a name has the same type in all answers', () => {
  const types = new Map<string, Set<string>>();
  for (const [, , shape] of allAnswers())
    for (const [name, type] of fieldTypes(schemaOf(shape)))
      types.set(name, (types.get(name) ?? new Set()).add(type));
  const several = [...types].flatMap(([name, all]) => (all.size > 1 ? name : []));
  expect(several).toEqual([]);
});

it('names are nouns in camelCase, without the private words of earlier versions', () => {
  const names = new Set(
    allAnswers().flatMap(([, , shape]) => [...fieldTypes(schemaOf(shape))].map(([name]) => name)),
  );
  for (const name of names) {
    expect(name).toMatch(/^[a-z][a-zA-Z0-9]*$/);
    expect(name).not.toMatch(
      /^(is|has|was|can)[A-Z]|^(aside|held|holder|fates?|silent|silence|asked|took|lag|what|turned|some|since|until|at|now)$/,
    );
  }
});

it('every command with -o json has one, on a node and in the plugin', () => {
  const withJson = subcommandsOf('kubeproxy').filter(({ options = [] }) =>
    options.some(({ long, argChoices = [] }) => long === '--output' && argChoices.includes('json')),
  );
  expect(Object.keys(answers).sort()).toEqual(withJson.map(({ name }) => name).sort());
  expect(Object.keys(clusterAnswers).sort()).toEqual(CLUSTER_QUERIES.filter((one) => one !== 'dump').sort());
});

it('every debug route has one', () => {
  const folder = 'src/diagnostics/adapters/debug';
  const sources = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  const served = sources.flatMap((source) => source.match(/(?<=')\/debug\/\w+(?=')/g) ?? []);
  expect(Object.keys(routes).sort()).toEqual(served.sort());
});

it('each is a file of the package', () => {
  expect(jsonSchemas().map(({ path }) => path)).toEqual(
    expect.arrayContaining(['schemas/status.json', 'schemas/cluster-status.json', 'schemas/debug-sync.json']),
  );
  for (const { text } of jsonSchemas())
    expect(JSON.parse(text)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
});
