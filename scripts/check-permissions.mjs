/**
 * Compares the permissions that the test suite used with those that the ClusterRole grants: `node
 * scripts/check-permissions.mjs FOLDER`. The stand-in API server of the tests rejects all other requests.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const [folder] = process.argv.slice(2);
const used = new Set(
  readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n')),
);
const { rules } = parse(readFileSync('deploy/base/cluster-role.yaml', 'utf8'));
const granted = rules.flatMap(({ apiGroups, resources, verbs }) =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
  ),
);
const unused = granted.filter((permission) => !used.has(permission));
console.log(`permissions: ${granted.length} granted, ${granted.length - unused.length} used`);
for (const permission of unused)
  console.error(`granted in deploy/base/cluster-role.yaml, but never used: ${permission}`);
process.exitCode = unused.length === 0 && granted.length > 0 ? 0 : 1;
