/**
 * The contract of backends, as a list of cases for any test runner.
 *
 * @packageDocumentation
 */
export { backendContract } from './testing/contract/backend-contract.js';
export type { BackendSubject, ContractCase } from './testing/contract/backend-subject.js';
export { sampleEntry, sampleNode, type SampleShape } from './testing/contract/sample-services.js';
