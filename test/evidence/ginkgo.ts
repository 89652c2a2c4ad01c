import type { TestResult } from './results.js';

/** A part of the report that Ginkgo writes with `--json-report`. Names and values are Ginkgo's. */
export interface GinkgoSuite {
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeText: string;
    readonly State: string;
    /** Nanoseconds. */
    readonly RunTime: number;
    readonly Failure?: { readonly Message: string };
  }[];
}

/** The specs that ran. Nodes without a text, such as those that prepare a suite, are no specs. */
export function ginkgoTests(suites: readonly GinkgoSuite[]): readonly TestResult[] {
  return suites
    .flatMap(({ SpecReports }) => SpecReports)
    .filter(({ State, LeafNodeText }) => LeafNodeText !== '' && State !== 'skipped' && State !== 'pending')
    .map(({ ContainerHierarchyTexts, LeafNodeText, State, RunTime, Failure }) => ({
      name: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' '),
      milliseconds: Math.round(RunTime / 1e6),
      ...(State !== 'passed' && { error: `${State}: ${Failure?.Message ?? ''}` }),
    }));
}
