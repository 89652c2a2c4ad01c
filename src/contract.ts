/**
 * What a backend must hold, as a list of cases for any test runner.
 *
 * @packageDocumentation
 */
export { backendContract } from './adapters/contract/backend-contract.js';
export type { BackendSubject, ContractCase } from './adapters/contract/backend-subject.js';
export { sampleEntry, sampleNode, type SampleShape } from './adapters/contract/sample-services.js';
