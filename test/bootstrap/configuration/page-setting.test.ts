import { servesPage } from '../../../src/bootstrap/configuration/proxy-configuration.js';
import { parse, parseFile } from './support.js';

const serves = (...flags: readonly string[]): boolean => servesPage(parse(flags).configuration);

describe('the page', () => {
  it.each(['127.0.0.1:10249', '127.0.0.2:1', '[::1]:10249', '::1'])('is served at %s', (address) => {
    expect(serves('--metrics-bind-address', address)).toBe(true);
  });

  it.each(['0.0.0.0:10249', '[::]:10249', '198.51.100.11:10249'])('is not served at %s', (address) => {
    expect(serves('--metrics-bind-address', address)).toBe(false);
  });

  it('is served where it is asked for', () => {
    expect(serves('--metrics-bind-address=0.0.0.0:10249', '--page')).toBe(true);
    expect(serves('--metrics-bind-address=0.0.0.0:10249', '--page=true')).toBe(true);
    expect(serves('--page=false')).toBe(false);
  });

  it('is asked for in the file, too, and by a flag beside it', () => {
    expect(servesPage(parseFile('page: false').configuration)).toBe(false);
    expect(servesPage(parseFile('page: true\nmetricsBindAddress: 0.0.0.0:10249').configuration)).toBe(true);
    expect(servesPage(parseFile('page: true', '--page=false').configuration)).toBe(false);
  });
});
