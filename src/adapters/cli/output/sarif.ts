import type { ManifestFinding } from '../../manifests/validate-manifests.js';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

/** What may be found, by the names under which code review lists it. */
const RULES = {
  error: { id: 'invalid-manifest', shortDescription: { text: 'The proxy ignores it' } },
  warning: { id: 'doubtful-reference', shortDescription: { text: 'It leads nowhere' } },
} as const;

/** Findings in the form that tools of code review read: Static Analysis Results Interchange Format 2.1.0. */
export function sarif(findings: readonly ManifestFinding[], version: string): object {
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'kubeproxy validate', version, rules: Object.values(RULES) } },
        results: findings.map(({ severity, file, line, column, subject, problem }) => ({
          ruleId: RULES[severity].id,
          level: severity,
          message: { text: subject === undefined ? problem : `${subject}: ${problem}` },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: file },
                ...(line !== undefined && {
                  region: { startLine: line, ...(column !== undefined && { startColumn: column }) },
                }),
              },
            },
          ],
        })),
      },
    ],
  };
}
