import { buildValues, valueAt, type Field } from './schema/field.js';
import { isObject } from '../../domain/validation/schema.js';
import type { Configured } from './proxy-configuration.js';
import { API_VERSION, KIND, schema } from './schema/schema.js';
import { inFile } from './types/value-type.js';

/**
 * The configuration in effect as a KubeProxyConfiguration v1alpha1, ready for JSON or YAML: for `--write-config-to` and
 * /configz (docs/spec/configuration.md §3.1, §5). Names are sorted at every level. What kube-proxy keeps only for the mode
 * in force is zero for the others; if `nftables.minSyncPeriod` is not configured, kube-proxy's default is shown.
 */
export function effectiveConfiguration({ configuration }: Configured): Readonly<Record<string, unknown>> {
  const mode = configuration.mode || 'iptables';
  const values = buildValues(schema, (field, path) =>
    isForgotten(field, mode) ? field.options.elsewhere : inFile(field.type, valueAt(configuration, path)),
  );
  return sorted({ ...values, mode, apiVersion: API_VERSION, kind: KIND });
}

/** With `auto`, any of the modes may become the present one. */
function isForgotten({ options: { modes, elsewhere } }: Field<unknown>, mode: string): boolean {
  return elsewhere !== undefined && mode !== 'auto' && modes !== undefined && !modes.includes(mode);
}

function sorted(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, isObject(value) ? sorted(value) : value]),
  );
}
