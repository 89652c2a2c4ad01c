import type { EditedField } from '../../application/configuration/apply-configuration.js';
import { fieldEntries, valueAt } from './schema/field.js';
import { modeInForce, type ProxyConfiguration } from './proxy-configuration.js';
import { schema } from './schema/schema.js';

interface Configured {
  readonly configuration: ProxyConfiguration;
}

/** The fields in which two configurations differ, and what that takes; `from` is the one in force. */
export function editedFields(from: Configured, to: Configured): readonly EditedField[] {
  const mode = modeInForce(from.configuration);
  return fieldEntries(schema)
    .filter(([path]) => textAt(from, path) !== textAt(to, path))
    .map(([path, { onEdit, options }]) => {
      const matters = options.modes?.includes(mode) ?? true;
      return { path, effect: matters ? onEdit : 'none' };
    });
}

/** Of the feature gates it counts which are on, not by what words. */
function textAt({ configuration }: Configured, path: string): string | undefined {
  return JSON.stringify(path === 'featureGates' ? configuration.gates : valueAt(configuration, path));
}
