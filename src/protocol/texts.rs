//! Enums of which each variant has a text.

/// An enum without fields, with a text of each variant as its `Display`. A variant may have a number.
macro_rules! texts {
    ($(#[$about:meta])* $visible:vis $type:ident:
     $($(#[$doc:meta])* $name:ident $(($number:literal))? = $text:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $type { $($(#[$doc])* $name $(= $number)?,)* }

        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

pub(crate) use texts;
