import type { EditedField } from '../../application/live-configuration.js';
import { fieldEntries, valueAt } from './schema/field.js';
import { modeInForce, type Configured } from './proxy-configuration.js';
import { schema } from './schema/schema.js';

/** The fields in which two configurations differ, and how each edit takes effect; `from` is the one in force. */
export function editedFields(from: Configured, to: Configured): readonly EditedField[] {
  const mode = modeInForce(from.configuration);
  return fieldEntries(schema)
    .filter(([path]) => textAt(from, path) !== textAt(to, path))
    .map(([path, { onEdit, options }]) => {
      const matters = options.modes?.includes(mode) ?? true;
      return { path, effect: matters ? onEdit : 'none' };
    });
}

/** Feature gates are equal when the same ones are on, however they were set. */
function textAt({ configuration }: Configured, path: string): string | undefined {
  return JSON.stringify(path === 'featureGates' ? configuration.gates : valueAt(configuration, path));
}
