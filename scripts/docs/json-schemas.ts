/** JSON Schemas of the answers: of commands with `-o json` and of the routes under `/debug/`, from the shapes that validate them. */

import { both, fields, list, listOrOne, text, type Form, type Shape } from '../../src/domain/shape.js';
import { historyAnswer } from '../../src/application/status/change-entry.js';
import { nodeBundle } from '../../src/diagnostics/adapters/bundle/bundle.js';
import { validateAnswer } from '../../src/diagnostics/adapters/cli/commands/validate.js';
import type { QueryKind } from '../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
import { clientVersion, versionAnswer } from '../../src/diagnostics/adapters/cli/commands/version.js';
import {
  clusterHistory,
  clusterTraffic,
} from '../../src/diagnostics/application/cluster/cluster-activity.js';
import { clusterComparisonAnswer } from '../../src/diagnostics/application/cluster/cluster-comparison.js';
import { clusterExplanations } from '../../src/diagnostics/application/cluster/cluster-explanation.js';
import {
  clusterServices,
  clusterStatusAnswer,
} from '../../src/diagnostics/application/cluster/cluster-status.js';
import { aboutNodes, nodeGroups } from '../../src/diagnostics/application/cluster/query-nodes.js';
import { comparisonAnswer } from '../../src/diagnostics/application/comparison-report.js';
import { differenceAnswer } from '../../src/diagnostics/application/difference/difference-report.js';
import { explanationAnswer } from '../../src/diagnostics/application/explain/explanation.js';
import { statusAnswer, syncAnswer, versions } from '../../src/diagnostics/application/status/proxy-status.js';
import {
  aboutUnknown,
  searchAnswer,
  servicesAnswer,
  unknownName,
} from '../../src/diagnostics/application/status/service-row.js';
import { traceAnswer } from '../../src/diagnostics/application/trace/answer.js';
import { drainStatusAnswer, nodeDrain } from '../../src/diagnostics/domain/drain.js';
import { trafficAnswer } from '../../src/diagnostics/domain/traffic.js';

/** The answers on a node, by the names of their commands. */
export const answers: Readonly<Record<string, Shape<unknown>>> = {
  status: statusAnswer,
  services: servicesAnswer,
  explain: listOrOne(explanationAnswer),
  trace: traceAnswer,
  diff: both(differenceAnswer, aboutUnknown),
  history: both(historyAnswer, aboutUnknown),
  top: both(trafficAnswer, aboutUnknown),
  'drain-status': nodeDrain,
  compare: comparisonAnswer,
  dump: nodeBundle,
  validate: validateAnswer,
  version: versionAnswer,
};

/** The answers of the plugin about all nodes or several, by the names of its commands. `dump` writes an archive. */
export const clusterAnswers: Readonly<Record<Exclude<QueryKind, 'dump'>, Shape<unknown>>> = {
  status: both(clusterStatusAnswer, aboutNodes),
  services: both(clusterServices, aboutNodes),
  explain: both(clusterExplanations, aboutNodes),
  trace: both(fields({ groups: nodeGroups(traceAnswer) }), aboutNodes),
  diff: both(fields({ groups: nodeGroups(differenceAnswer), unknownNames: list(unknownName) }), aboutNodes),
  history: both(clusterHistory, aboutNodes),
  top: both(clusterTraffic, aboutNodes),
  'drain-status': both(drainStatusAnswer, aboutNodes),
  compare: both(clusterComparisonAnswer, aboutNodes),
  version: both(
    fields({ client: clientVersion, groups: nodeGroups(fields({ mode: text, versions })) }),
    aboutNodes,
  ),
};

/** The debug routes, and the answers of those that no command has. */
export const routes: Readonly<Record<string, keyof typeof answers | Shape<unknown>>> = {
  '/debug/status': 'status',
  '/debug/services': 'services',
  '/debug/explain': 'explain',
  '/debug/trace': 'trace',
  '/debug/diff': 'diff',
  '/debug/history': 'history',
  '/debug/traffic': 'top',
  '/debug/drain': 'drain-status',
  '/debug/search': searchAnswer,
  '/debug/sync': syncAnswer,
};

/** All answers: the name of the schema, its title, and its shape. */
export function allAnswers(): readonly (readonly [name: string, title: string, shape: Shape<unknown>])[] {
  return [
    ...Object.entries(answers).map(
      ([name, shape]) => [name, `The answer of kubeproxy ${name} -o json`, shape] as const,
    ),
    ...Object.entries(clusterAnswers).map(
      ([name, shape]) =>
        [
          `cluster-${name}`,
          `The answer of kubectl kubeproxy ${name} -o json about all nodes or several`,
          shape,
        ] as const,
    ),
    ...Object.entries(routes).flatMap(([route, shape]) =>
      typeof shape === 'string'
        ? []
        : [[route.replace('/debug/', 'debug-'), `The answer of ${route}`, shape] as const],
    ),
  ];
}

/** The path of each schema in the package, and its text. */
export function jsonSchemas(): readonly { readonly path: string; readonly text: string }[] {
  return allAnswers().map(([name, title, shape]) => {
    const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schemaOf(shape) };
    return { path: `schemas/${name}.json`, text: `${JSON.stringify(schema, undefined, 2)}\n` };
  });
}

/** A JSON Schema, with the keywords that shapes need. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly (string | boolean)[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly if?: JsonSchema;
  readonly then?: JsonSchema;
  readonly else?: JsonSchema;
}

/** The JSON Schema (2020-12) of the values of a shape. Fields that it does not name are allowed, as newer versions may have more. */
export function schemaOf({ form }: Shape<unknown>): JsonSchema {
  switch (form.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return { type: form.kind };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'anything':
      return {};
    case 'one-of':
      return { enum: form.values };
    case 'optional':
      return schemaOf(form.shape);
    case 'list':
      return { type: 'array', items: schemaOf(form.shape) };
    case 'list-or-one':
      return { anyOf: [schemaOf(form.shape), { type: 'array', items: schemaOf(form.shape) }] };
    case 'fields':
      return objectSchema(form);
    case 'any-of':
      return { anyOf: form.shapes.map(schemaOf) };
    case 'all-of':
      return { allOf: form.shapes.map(schemaOf) };
    case 'having':
      return {
        if: { type: 'object', required: [form.name] },
        then: schemaOf(form.shape),
        else: schemaOf(form.other),
      };
  }
}

function objectSchema({ shapes }: Form & { readonly kind: 'fields' }): JsonSchema {
  const named = Object.entries(shapes);
  const required = named.flatMap(([name, { form }]) =>
    form.kind === 'optional' || form.kind === 'anything' ? [] : name,
  );
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(([name, shape]) => [name, schemaOf(shape)])),
    ...(required.length > 0 && { required }),
  };
}
