//! Amounts of money in whole minor units: no float, no rounding but the one that tax law asks for.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// The largest amount that a caller may name, in major units.
pub const MAX_AMOUNT_MAJOR: i64 = 1_000_000;

/// A currency, with its own number of decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Currency {
    /// Singapore dollar.
    #[serde(rename = "SGD")]
    Sgd,
}

impl Currency {
    /// Decimals of the minor unit after ISO 4217.
    #[must_use]
    pub const fn decimals(self) -> u32 {
        match self {
            Self::Sgd => 2,
        }
    }

    /// The ISO 4217 code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Sgd => "SGD",
        }
    }

    /// The sign that people write before an amount.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Sgd => "S$",
        }
    }

    const fn minor_per_major(self) -> i64 {
        10_i64.pow(self.decimals())
    }
}

/// An amount in minor units (cents). `Display` and JSON give a plain decimal such as `12.50`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money {
    minor: i64,
}

/// Why a text is no amount, worded for the person who typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMoney {
    /// Not a plain decimal number.
    #[error("must be an amount such as \"12.50\"")]
    Malformed,
    /// More decimals than the currency has.
    #[error("must have at most two decimals")]
    TooManyDecimals,
    /// Below zero.
    #[error("must not be negative")]
    Negative,
    /// Over a million.
    #[error("must be at most 1000000.00")]
    TooLarge,
}

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self { minor: 0 };

    /// From minor units (cents).
    #[must_use]
    pub const fn from_minor(minor: i64) -> Self {
        Self { minor }
    }

    /// In minor units (cents).
    #[must_use]
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// Parses a plain decimal of 0 to 1,000,000 such as `12.50`, `12.5` or `12`.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, InvalidMoney> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) {
            return Err(InvalidMoney::Malformed);
        }
        if negative {
            return Err(InvalidMoney::Negative);
        }
        let decimals = currency.decimals() as usize;
        if fraction.len() > decimals && digits.contains('.') {
            return Err(InvalidMoney::TooManyDecimals);
        }
        let minor = format!("{whole}{fraction:0<decimals$}").parse::<i64>().map_err(|_| InvalidMoney::TooLarge)?;
        if minor > MAX_AMOUNT_MAJOR * currency.minor_per_major() {
            return Err(InvalidMoney::TooLarge);
        }
        Ok(Self { minor })
    }

    /// This amount, `quantity` times; `None` if that is more than can be said.
    #[must_use]
    pub fn times(self, quantity: u32) -> Option<Self> {
        self.minor.checked_mul(i64::from(quantity)).map(Self::from_minor)
    }

    /// With thousands separators: `1,234.50`.
    #[must_use]
    pub fn grouped(self) -> String {
        let plain = self.to_string();
        let (sign, plain) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        let mut grouped = String::from(sign);
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        format!("{grouped}.{fraction}")
    }

    /// With thousands separators and the currency's sign, for people: `S$1,234.50`.
    #[must_use]
    pub fn for_people(self, currency: Currency) -> String {
        let grouped = self.grouped();
        match grouped.strip_prefix('-') {
            Some(amount) => format!("-{}{amount}", currency.sign()),
            None => format!("{}{grouped}", currency.sign()),
        }
    }
}

impl Add for Money {
    type Output = Self;

    /// Amounts are bounded to a million each and 500 lines, far from where this could overflow.
    fn add(self, other: Self) -> Self {
        Self { minor: self.minor + other.minor }
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minor < 0 { "-" } else { "" };
        let per_major = Currency::Sgd.minor_per_major().unsigned_abs();
        let minor = self.minor.unsigned_abs();
        let decimals = Currency::Sgd.decimals() as usize;
        write!(formatter, "{sign}{}.{:0decimals$}", minor / per_major, minor % per_major)
    }
}

/// A rate of tax in hundredths of a per cent: 9 % is 900.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaxRate {
    basis_points: u32,
}

impl TaxRate {
    /// Singapore's Goods and Services Tax since 1 January 2024.
    pub const GST: Self = Self { basis_points: 900 };

    /// The tax on a net amount, half a cent rounded up, as Singapore's tax authority has it.
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

    use super::*;

    fn sgd(text: &str) -> Result<Money, InvalidMoney> {
        Money::parse(text, Currency::Sgd)
    }

    #[test]
    fn gst_rounds_half_a_cent_up_not_to_even() {
        for (net, tax) in
            [("0.50", "0.05"), ("2.50", "0.23"), ("12.50", "1.13"), ("0.05", "0.00"), ("0.06", "0.01"), ("0", "0.00")]
        {
            assert_eq!(TaxRate::GST.of(sgd(net).unwrap()).to_string(), tax, "9 % of {net}");
        }
    }

    #[test]
    fn amounts_that_are_no_amounts_are_refused() {
        for (text, error) in [
            ("1.234", InvalidMoney::TooManyDecimals),
            ("0.000", InvalidMoney::TooManyDecimals),
            ("-1.00", InvalidMoney::Negative),
            ("1000000.01", InvalidMoney::TooLarge),
            ("99999999999999999999999999", InvalidMoney::TooLarge),
            ("", InvalidMoney::Malformed),
            ("1e3", InvalidMoney::Malformed),
            ("+1", InvalidMoney::Malformed),
            ("1,000", InvalidMoney::Malformed),
            (" 1", InvalidMoney::Malformed),
            (".5", InvalidMoney::Malformed),
            ("5.", InvalidMoney::Malformed),
            ("NaN", InvalidMoney::Malformed),
            ("--1", InvalidMoney::Malformed),
            ("１", InvalidMoney::Malformed),
        ] {
            assert_eq!(sgd(text), Err(error), "{text:?}");
        }
        assert_eq!(sgd("1000000").unwrap().minor(), 100_000_000);
        assert_eq!(sgd("12.5").unwrap(), sgd("12.50").unwrap());
    }

    #[test]
    fn people_read_thousands_separators() {
        assert_eq!(Money::from_minor(99_999_999).for_people(Currency::Sgd), "S$999,999.99");
        assert_eq!(Money::from_minor(100_000_000).for_people(Currency::Sgd), "S$1,000,000.00");
        assert_eq!(Money::from_minor(5).for_people(Currency::Sgd), "S$0.05");
        assert_eq!(Money::from_minor(-123_456).for_people(Currency::Sgd), "-S$1,234.56");
    }

    proptest! {
        #[test]
        fn an_amount_survives_being_written_and_read(minor in 0..=100_000_000_i64) {
            let money = Money::from_minor(minor);
            prop_assert_eq!(sgd(&money.to_string()), Ok(money));
        }

        #[test]
        fn the_tax_is_never_half_a_cent_off(minor in 0..=100_000_000_i64) {
            let tax = TaxRate::GST.of(Money::from_minor(minor)).minor();
            let error = tax * 10_000 - minor * 900;
            prop_assert!((-5_000 < error) && (error <= 5_000), "off by {error} ten-thousandths of a cent");
        }
    }
}
