/** JSON Schemas of the answers: of commands with `-o json` and of the routes under `/debug/`, from the shapes that validate them. */

import { both, listOrOne, type Form, type Shape } from '../../src/domain/shape.js';
import { historyAnswer } from '../../src/application/status/change-entry.js';
import { nodeBundle } from '../../src/diagnostics/adapters/bundle/bundle.js';
import { validateAnswer } from '../../src/diagnostics/adapters/cli/commands/validate.js';
import { versionAnswer } from '../../src/diagnostics/adapters/cli/commands/version.js';
import { comparisonAnswer } from '../../src/diagnostics/application/comparison-report.js';
import { differenceAnswer } from '../../src/diagnostics/application/difference/difference-report.js';
import { explanationAnswer } from '../../src/diagnostics/application/explain/explanation.js';
import { statusAnswer } from '../../src/diagnostics/application/status/proxy-status.js';
import { aboutUnknown, servicesAnswer } from '../../src/diagnostics/application/status/service-row.js';
import { traceAnswer } from '../../src/diagnostics/application/trace/answer.js';
import { trafficAnswer } from '../../src/diagnostics/domain/traffic.js';

/** The answers, by the names of their commands. */
export const answers: Readonly<Record<string, Shape<unknown>>> = {
  status: statusAnswer,
  services: servicesAnswer,
  explain: listOrOne(explanationAnswer),
  trace: traceAnswer,
  diff: both(differenceAnswer, aboutUnknown),
  history: both(historyAnswer, aboutUnknown),
  top: both(trafficAnswer, aboutUnknown),
  compare: comparisonAnswer,
  dump: nodeBundle,
  validate: validateAnswer,
  version: versionAnswer,
};

/** The path of each schema in the package, and its text. */
export function jsonSchemas(): readonly { readonly path: string; readonly text: string }[] {
  return Object.entries(answers).map(([name, shape]) => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: `The answer of kubeproxy ${name} -o json`,
      ...schemaOf(shape),
    };
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
