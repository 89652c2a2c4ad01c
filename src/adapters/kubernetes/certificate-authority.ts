import { X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

/**
 * The certificates in a PEM file. What cannot be read is left out, as Go does. Node would trust none that comes after it,
 * and nobody, without a word, when there is no certificate at all.
 */
export function certificatesIn(pem: string): readonly string[] {
  return (pem.match(CERTIFICATE) ?? []).filter(isCertificate);
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
