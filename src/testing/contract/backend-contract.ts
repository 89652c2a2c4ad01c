import type { BackendSubject, ContractCase } from './backend-subject.js';
import { changeCases, removalCases } from './change-cases.js';
import { differenceCases } from './difference-cases.js';
import { failureCases } from './failure-cases.js';
import { startCases } from './start-cases.js';
import { Stage } from './stage.js';
import { verificationCases } from './verification-cases.js';

/**
 * Everything that the port `Backend` promises, as a list of cases for any test runner. Each has its own place, so they
 * may run in any order.
 *
 *     for (const { name, run } of backendContract(subject)) test(name, run);
 */
export function backendContract<Place>(subject: BackendSubject<Place>): readonly ContractCase[] {
  const cases = {
    ...startCases(subject),
    ...changeCases(subject),
    ...failureCases(subject),
    ...verificationCases(subject),
    ...differenceCases(subject),
    ...removalCases<Place>(),
  };
  return Object.entries(cases).map(([name, body]) => ({ name, run: () => Stage.run(subject, body) }));
}
