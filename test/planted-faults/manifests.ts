import type { PlantedFault } from './fault.js';

const SOURCE = 'src/adapters/manifests/manifest-source.ts';
const FILES = 'src/adapters/manifests/manifest-files.ts';
const RULES = 'src/domain/validation/service-rules.ts';

/** Manifests and the validation of objects. */
export const MANIFEST_FAULTS: readonly PlantedFault[] = [
  {
    name: 'manifests-that-are-being-written-delete-their-objects',
    file: SOURCE,
    original: 'const emptied = holdsNothing(text) && this.mayHaveHeld(file, text);',
    fault: 'const emptied = false;',
  },
  {
    name: 'removed-manifests-keep-their-objects',
    file: SOURCE,
    original: '    await this.deliver(file, NOTHING, signal);\n',
    fault: '',
  },
  {
    name: 'objects-that-become-invalid-are-deleted',
    file: SOURCE,
    original: 'broken.has(key) || broken.has(undefined);',
    fault: 'broken.has(undefined);',
  },
  {
    name: 'folders-that-cannot-be-read-are-empty',
    file: FILES,
    original: '    } catch {\n      return true;\n',
    fault: '    } catch {\n      return false;\n',
  },
  {
    name: 'the-first-path-wins',
    file: FILES,
    original: 'this.paths.findLastIndex(',
    fault: 'this.paths.findIndex(',
  },
  {
    name: 'hidden-files-are-read',
    file: FILES,
    original: "SUFFIX.test(name) && !name.startsWith('.')",
    fault: 'SUFFIX.test(name)',
  },
  {
    name: 'lists-have-one-item',
    file: 'src/adapters/manifests/load-manifest.ts',
    original: 'of value.items.entries())',
    fault: 'of value.items.slice(0, 1).entries())',
  },
  {
    name: 'an-object-may-be-given-twice',
    file: 'src/adapters/manifests/load-manifest.ts',
    original: "      return this.reject(place, { field: 'metadata.name', what }, subject, key);\n",
    fault: "      this.reject(place, { field: 'metadata.name', what }, subject, key);\n",
  },
  {
    name: 'two-services-may-have-one-node-port',
    file: 'src/domain/validation/allocations.ts',
    original:
      'return owner === undefined || owner === subject ? [] : [{ field, what: `${what} belongs to ${owner}` }];',
    fault: 'return [];',
  },
  {
    name: 'addresses-with-leading-zeros-are-valid',
    file: 'src/domain/validation/text-checks.ts',
    original: "return LEADING_ZERO.test(text) ? 'has leading zeros' : undefined;",
    fault: 'return undefined;',
  },
  {
    name: 'affinity-may-last-ten-days',
    file: RULES,
    original: 'integer(1, 86400)(',
    fault: 'integer(1, 864000)(',
  },
  {
    name: 'two-ports-need-no-names',
    file: RULES,
    original: 'if (all.length < 2) return;',
    fault: 'if (all.length < 3) return;',
  },
  {
    name: 'families-fit-in-any-order',
    file: RULES,
    original: 'family !== families[index])',
    fault: '!families.includes(family))',
  },
  {
    name: 'policies-are-local-by-default',
    file: 'src/domain/validation/defaults.ts',
    original: "spec.internalTrafficPolicy ??= 'Cluster';",
    fault: "spec.internalTrafficPolicy ??= 'Local';",
  },
  {
    name: 'unknown-annotations-have-no-warning',
    file: 'src/domain/validation/warnings.ts',
    original: 'name.startsWith(PREFIX) && !known.includes(name)',
    fault: 'name.startsWith(PREFIX) && known.includes(name)',
  },
];
