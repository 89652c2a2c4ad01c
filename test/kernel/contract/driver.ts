import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import { serve } from '../../support/program/driver.js';
import { nftables } from './nftables.js';

const cases = new Map(backendContract(nftables).map(({ name, run }) => [name, run]));

const handlers = { run: (name: string): Promise<void> => cases.get(name)!() };

export type ContractDriver = typeof handlers;

await serve(handlers);
