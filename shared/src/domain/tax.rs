//! Singapore's Goods and Services Tax: which lines bear it, at which rate, and how it is rounded.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Money;

/// How a line is taxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaxCode {
    /// At the invoice's rate.
    Standard,
    /// At 0 %: international services and exports (GST Act, section 21).
    ZeroRated,
    /// Not subject to the tax (GST Act, Fourth Schedule).
    Exempt,
}

impl TaxCode {
    /// All codes, in the order in which an invoice sums them up.
    pub const ALL: [Self; 3] = [Self::Standard, Self::ZeroRated, Self::Exempt];

    /// The code as the API names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::ZeroRated => "zeroRated",
            Self::Exempt => "exempt",
        }
    }
}

impl FromStr for TaxCode {
    type Err = UnknownTaxCode;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|code| code.name() == name).ok_or(UnknownTaxCode)
    }
}

/// The text is no tax code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be standard, zeroRated or exempt")]
pub struct UnknownTaxCode;

/// A rate of tax in hundredths of a per cent: 9 % is 900.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaxRate {
    basis_points: u32,
}

impl TaxRate {
    /// Singapore's Goods and Services Tax since 1 January 2024.
    pub const GST: Self = Self { basis_points: 900 };

    /// The tax on a net amount, half a minor unit rounded up, as Singapore's tax authority has it.
    /// <https://www.iras.gov.sg/taxes/goods-services-tax-(gst)/basics-of-gst/invoicing-price-display-and-record-keeping>
    ///
    /// # Panics
    /// Never, for the bounded amounts that [`Money::parse`] and invoices allow.
    #[must_use]
    pub fn of(self, net: Money) -> Money {
        let scaled = i128::from(net.minor()) * i128::from(self.basis_points);
        let rounded = (scaled * 2 + 10_000).div_euclid(20_000);
        Money::from_minor(i64::try_from(rounded).expect("a tax below the bounded amount"))
    }
}

impl fmt::Display for TaxRate {
    /// In per cent: `9` or `8.5`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:02}", self.basis_points / 100, self.basis_points % 100);
        formatter.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Currency;
    use super::*;

    #[test]
    fn gst_rounds_half_a_cent_up_not_to_even() {
        for (net, tax) in
            [("0.50", "0.05"), ("2.50", "0.23"), ("12.50", "1.13"), ("0.05", "0.00"), ("0.06", "0.01"), ("0", "0.00")]
        {
            let net = Money::parse(net, Currency::Sgd).unwrap();
            assert_eq!(TaxRate::GST.of(net).plain(Currency::Sgd), tax, "9 % of {net:?}");
        }
    }

    #[test]
    fn a_rate_is_shown_without_needless_zeros() {
        for (basis_points, text) in [(900, "9"), (850, "8.5"), (825, "8.25"), (0, "0"), (1000, "10")] {
            assert_eq!(TaxRate { basis_points }.to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn the_tax_is_never_half_a_cent_off(minor in 0..=100_000_000_i64) {
            let tax = TaxRate::GST.of(Money::from_minor(minor)).minor();
            let error = tax * 10_000 - minor * 900;
            prop_assert!((-5_000 < error) && (error <= 5_000), "off by {error} ten-thousandths of a cent");
        }
    }
}
